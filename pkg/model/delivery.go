package model

// DeliverNone means that an image is not delivered: whatever builds it sees to that itself.
const DeliverNone DeliveryMethod = "none"
