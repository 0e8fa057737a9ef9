package model

// DeliverNone means that hone does not deliver the image: its builder does.
const DeliverNone DeliveryMethod = "none"
