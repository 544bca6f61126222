/**
 * The format as a Lark grammar, for models whose freeform tools can have a grammar. Strict mode accepts nearly the same language: it also accepts
 * CRLF, an `*** Environment ID:` line and an added file without lines, but neither an `@@` nor an update with nothing below it.
 *
 * @example const format = { type: 'grammar', syntax: 'lark', definition: patchGrammar } // of a tool, for a provider that supports grammars
 */
export const patchGrammar = `start: begin_patch operation+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

operation: add_file | delete_file | update_file
add_file: "*** Add File: " path LF added_line+
delete_file: "*** Delete File: " path LF
update_file: "*** Update File: " path LF move_to? chunks?

path: /(.+)/
added_line: "+" /(.*)/ LF -> line
move_to: "*** Move to: " path LF
chunks: (anchor | chunk_line)+ end_of_file?
anchor: ("@@" | "@@ " /(.+)/) LF
chunk_line: ("+" | "-" | " ") /(.*)/ LF
end_of_file: "*** End of File" LF

%import common.LF
`
