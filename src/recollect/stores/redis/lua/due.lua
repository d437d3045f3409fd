-- Return due threads whose scope is not leased, longest due first, with the rows of their scopes.
-- KEYS: the index of due threads. ARGV: the end of the range, now, the limit, the prefix of keys.
local found, scopes, from = {}, {}, '-'
local now, limit, prefix = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

local function is_later(moment)
  return moment ~= cjson.null and moment > now
end

local function free_scope(id)
  local row = redis.call('GET', prefix .. id .. ':row')
  -- A row is a JSON array: 8 is its lease_owner, 9 its lease_until.
  local scope = row and cjson.decode(row)
  if not scope or (scope[8] ~= cjson.null and is_later(scope[9])) then
    return false
  end
  return {id, redis.call('GET', prefix .. id .. ':v') or '', row}
end

while #found < limit do
  local page = redis.call('ZRANGEBYLEX', KEYS[1], from, ARGV[1], 'LIMIT', 0, 64)
  if #page == 0 then
    break
  end
  from = '(' .. page[#page]
  for _, member in ipairs(page) do
    local id, thread = string.match(string.sub(member, 17), '^(%d+):(.*)$')
    if scopes[id] == nil then
      scopes[id] = free_scope(id)
    end
    local scope = scopes[id]
    local row = scope and #found < limit and redis.call('HGET', prefix .. id .. ':threads', thread)
    -- 10 is the thread's not_before.
    if row and not is_later(cjson.decode(row)[10]) then
      table.insert(found, {scope[1], scope[2], scope[3], row})
    end
  end
end
return found
