const component = 'a component of a path, which has at most 255 bytes'
const repl = "in the process of a command, over that command's own text"
const complaint = 'a line of output, of which the first 2,000 characters are read'

/** Regular expressions that aren't proven to take linear time, each with the reason why no text makes it slow. */
export const boundedPatterns: Readonly<Record<string, string>> = {
  '/^(?:-[a-km-zA-Z]*l[a-zA-Z]*|--list|list|--get-regexp|--regexp|--get-urlmatch|--url(?:=.*)?)$|extraheader|token|pass|secret|credential|cookie|url\\./i':
    'too many branches for the prover; each is a plain text, or anchored with one way to read it',
  '/(?:^|[^a-z0-9{$])(?:_auth(?:token)?|_password|npmauth(?:token|ident)|token|password|passwd|secret|api[-_]?key|cleartextpassword)["\']?\\s*(?:[:=]|value\\s*=)\\s*(?!["\']?(?:\\$[{(a-z_]|%|["\']?\\s*$))\\S/i':
    'a line of a settings file, in pieces of 2,000 characters',
  '/claude-[a-z]+-(\\d{1,2})(?:[-.](\\d{1,2}))?(?!\\d)/': 'the name of a model, given by the user',
  '/(^|\\/)(?=[*?[])(?!\\*+(?:\\/|$))/g': 'looks ahead over stars behind a slash, so over each star once',
  '/^(["\'])(.*)\\1$/': 'anchored; its parts go over the text once each',
  '/\\s*\\n\\s*/g': 'an error in what the user typed on the command line',
  '/^(?!\\.{1,2}$)[^/\\0]+$/': component,
  '/[. ]+$/': component,
  '/^(.*?)<<(-?)\\s*(["\']?)([A-Za-z_][\\w.-]*)\\3\\s*$/':
    'the first line of a patch; what follows `<<` is tried once for each',
  '/^\\d*\\.?\\d+$/': 'typed by the user on the command line',
  '/(?:\\/\\*\\*?)+$/': 'a permission, which has at most 1,000 characters',
  '/\\$\\{(\\w+)(?::-([^}]*))?\\}/g': 'a file of the user, or of a repository that is trusted to start programs',
  '/(?<![\\w.>-])(?:\\/private)?\\/(?:tmp|var\\/folders)\\/[^\\s:\'"()\\]]+/g':
    'only while a conversation is recorded; each place is looked at once',
  '/(\\d+(?:\\.\\d+)?)(ms|[dhms])/g':
    'a header, which Node bounds, that an anchored expression has accepted as a whole',
  '/\\n {4}at (?:Session\\.post|post) \\([^]*?(?=\\n {0,3}\\S|$)/g': repl,
  '/\'(?:\\\\.|[^\'\\\\\\n])*\'|"(?:\\\\.|[^"\\\\\\n])*"|`(?:\\\\[^]|[^`\\\\])*`|\\/\\/.*|\\/\\*[^]*?\\*\\//': repl,
  '/\\{[^}]*\\}/': repl,
  '/<meta[^>]+charset=["\']?([\\w-]+)/i': 'the first 1,024 bytes of a page',
  '/No space left on device|Creating new namespace failed: .*(28|ENOSPC)/i': 'what bubblewrap says of itself',
  '/^[^:]+: (?=.*: )/': complaint,
  '/(?<=^|[\\s(=:,[])[\'"`‘“]([^\'"`‘’“”]+)[\'"`’”](?=$|[\\s):,.;\\]])/g': complaint,
  '/(?:getaddrinfo|connect|getaddrinfo\\(\\)) (?:ENOTFOUND|EAI_AGAIN|EPERM|ENETUNREACH|ECONNREFUSED) ([\\w.:-]+)/':
    complaint,
  '/(?:Failed|failed) to (?:connect|resolve|fetch|lookup)[^:]*?(?:to|host|from)? [\'"]?(?:\\w+:\\/\\/)?([\\w-]+(?:\\.[\\w-]+)+)/':
    complaint,
  '/(?:^|=>)\\s*(\\/\\S+) \\(0x/': 'what ldd(1) says of our own program',
  '/^(?:(?:https?|ssh|git|file):\\/\\/(?!-)[^\\s\\0-\\x1f\\x7f]*|\\.{0,2}\\/[^\\0-\\x1f\\x7f]*|(?:[A-Za-z0-9._][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?![:-])[^\\0-\\x1f\\x7f]*)$/':
    'anchored; its branches begin differently and go over the text once each',
  '/[. ]*(?::.*)?$/s': component,
  '/^(?:HEAD|[A-Z_]+_HEAD|config|config\\.worktree|description|hooks|info|objects|refs|logs|packed-refs|branches|worktrees|modules|index|lfs|shallow|gc\\.log|gc\\.pid|rr-cache|COMMIT_EDITMSG|BISECT_[A-Z_]+|git-daemon-export-ok)(?:\\.lock)?$/':
    component,
  '/^[A-Z]+:(?=\\/)/': "a variable of the user's environment",
}

/** Files that build regular expressions from other texts, each with the reason why matching is fast, or why slow matching does no harm. */
export const madePatterns: Readonly<Record<string, string>> = {
  'engine/tools/files/helper-search.ts':
    "the model's, in a process of the sandbox that searches for it alone and ends with the call",
  'engine/hooks/match-tool-name.ts':
    "the user's or a trusted repository's, over names of tools, of which 100 characters are read",
  'engine/hooks/hooks-schema.ts': 'to see whether it is one',
  'engine/models/replay-match.ts': "a recording's, named on the command line",
  'engine/tools/repl/session-program.ts': repl,
  'engine/tools/patch-in-command.ts': 'spelt out in pieces',
  'sandbox/denials/paths-in-output.ts': complaint,
  'sandbox/git/import-logs.ts': 'spelt out, with a length of hashes in it',
  'sandbox/git/operation-state.ts': 'spelt out, with a length of hashes in it',
  'sandbox/limits/groups.ts': "a name of the kernel's, spelt out",
}
