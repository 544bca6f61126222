const words =
  'and or not if then elif else end as def reduce foreach try catch label break empty error null true false length keys keys_unsorted values has in map map_values path paths del delpaths getpath setpath pick to_entries from_entries with_entries select recurse recurse_down add any all flatten range floor ceil round sqrt pow log tostring tonumber tojson fromjson type infinite nan isinfinite isnan isnormal isvalid sort sort_by group_by min max min_by max_by unique unique_by reverse contains inside startswith endswith ltrimstr rtrimstr trim ltrim rtrim explode implode split join ascii ascii_downcase ascii_upcase while until repeat first last nth limit skip indices index rindex combinations walk transpose env_ test match capture scan splits sub gsub ascii todate fromdate now dateadd datesub date mktime gmtime strftime strptime todateiso8601 arrays objects iterables booleans numbers normals finites strings nulls scalars input inputs toarray abs have_literal_numbers getpath ascii limit IN INDEX GROUP_BY bsearch tostream fromstream truncate_stream leaf_paths utf8bytelength input_line_number splits significand gamma exp log2 log10 exp10 halt_ text csv tsv html uri sh base64 base64d base32 json'
const harmless: ReadonlySet<string> = new Set(words.split(' '))

const token =
  /[ \t\n]+|\$[A-Za-z_]\w*|@[a-z0-9]+|\.[A-Za-z_]\w*|[A-Za-z_]\w*|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|[|,.:;()[\]{}=<>!+*/%?-]/y

/** Matches the rest of a string: up to its end, or up to a parenthesis that begins a filter inside it. */
const text = /(?:[^"\\]|\\[^(])*(?:"|\\\()/y

/**
 * Explains why a jq filter might show more than its input; undefined if it certainly doesn't (jq(1)). All words of the filter, and of the filters inside its
 * strings, must be on an allow-list. `$ENV` and variables that begin with `$__` are refused, and comments are not understood.
 */
export function findJqEffect(filter: string): string | undefined {
  const found: string[] = []
  // For each string that is interrupted by a filter in parentheses, the depth of these parentheses.
  const open: number[] = []
  let depth = 0
  for (let at = 0; at < filter.length;) {
    if (filter[at] === '"' || (filter[at] === ')' && open.at(-1) === depth)) {
      if (filter[at] === ')') found.push(')')
      text.lastIndex = at + 1
      const end = text.exec(filter)?.[0]
      if (end === undefined) return 'a string is not closed'
      if (filter[at] === ')') open.pop()
      if (end.endsWith('"')) found.push('""')
      else {
        open.push(depth)
        found.push('(')
      }
      at += 1 + end.length
      continue
    }
    token.lastIndex = at
    const next = token.exec(filter)?.[0]
    if (next === undefined) return `${JSON.stringify(filter.slice(at, at + 10))} in a filter is not understood`
    if (next === '(') depth++
    if (next === ')') depth--
    if (next.trim() !== '') found.push(next)
    at += next.length
  }
  const defined = new Set(found.filter((_, at) => found[at - 1] === 'def'))
  const brackets: string[] = []
  for (const [at, name] of found.entries()) {
    if (/^[([{]$/.test(name)) brackets.push(name)
    if (/^[)\]}]$/.test(name)) brackets.pop()
    if (name === '$ENV' || name.startsWith('$__')) return `${name} shows more than the filter's input`
    const isName = /^[A-Za-z_]/.test(name)
    // Apart from the words on the allow-list, only keys of objects and names that the filter itself defines are accepted.
    const isKey = found[at + 1] === ':' && /^[{,]$/.test(found[at - 1] ?? '')
    const isShort = /^[{,]$/.test(found[at - 1] ?? '') && /^[},]$/.test(found[at + 1] ?? '') && brackets.at(-1) === '{'
    if (isName && !harmless.has(name) && !isKey && !isShort && !defined.has(name))
      return `${name} may read or show more than the filter's input`
  }
  return undefined
}
