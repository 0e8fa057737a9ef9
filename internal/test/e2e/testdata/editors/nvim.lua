-- What a user of Neovim does in a Tiltfile. Each line that is printed is what the editor shows.
local function show(what, text)
  io.stdout:write(what, ": ", (text:gsub("%s+", " ")), "\n")
end

-- until_there calls ready until it returns a text, prints that, and goes on. Input is only taken between timers.
local function until_there(what, ready, go_on)
  local tries = 0
  local function try()
    tries = tries + 1
    local ok, text = pcall(ready)
    if ok and text then
      show(what, text)
      return go_on()
    end
    if tries == 600 then
      show("no " .. what, tostring(text or vim.inspect(vim.diagnostic.get(0))) .. vim.fn.execute("messages"))
      return vim.cmd("cquit")
    end
    vim.defer_fn(try, 50)
  end
  try()
end

local function diagnostic(part)
  return function()
    for _, d in ipairs(vim.diagnostic.get(0)) do
      if d.message:find(part, 1, true) then
        return ("line %d, %s"):format(d.lnum + 1, d.message)
      end
    end
  end
end

local function floating()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(win).relative ~= "" then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), " ")
    end
  end
end

local function offered()
  local words = {}
  for _, item in ipairs(vim.fn.complete_info({ "items" }).items) do
    table.insert(words, item.word)
  end
  return #words > 0 and table.concat(words, " ") or nil
end

vim.o.completeopt = "menuone,noselect"
show("file type", vim.bo.filetype)
until_there("diagnostic", diagnostic("lokal_resource"), function()
  show("color of a string", vim.fn.synIDattr(vim.fn.synID(1, 18, 1), "name"))
  vim.api.nvim_win_set_cursor(0, { 1, 2 })
  vim.lsp.buf.hover()
  until_there("hover", floating, function()
    vim.api.nvim_input("Godocker_b<C-x><C-o>")
    until_there("completion", offered, function()
      vim.api.nvim_input("<Esc>cck8s_yaml(<Esc>")
      until_there("diagnostic", diagnostic("never closed"), function()
        vim.cmd("qall!")
      end)
    end)
  end)
end)
