-- All hashes of a database as one JSON object, as sonic-db-dump writes them, without their expiry.
local all = {}
for _, key in ipairs(redis.call('keys', 'ASIC_STATE:*')) do
  local words, fields = redis.call('hgetall', key), {}
  for n = 1, #words, 2 do fields[words[n]] = words[n + 1] end
  all[key] = fields
end
return cjson.encode(all)
