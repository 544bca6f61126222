/** An answer as a server may send it, and the expected outcome. */
export type OddAnswer = { readonly name: string; readonly events: readonly unknown[]; readonly right: string }

type Row = readonly [name: string, events: readonly unknown[], right: string]

const named = (rows: readonly Row[]): readonly OddAnswer[] =>
  rows.map(([name, events, right]) => ({ name, events, right }))

// Chat Completions

const delta = (piece: unknown, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: piece, finish_reason: finish }],
})
const done = (finish = 'stop'): object => delta({}, finish)
const called = (...calls: readonly object[]): object => delta({ tool_calls: calls })
const made = (name: string, args: unknown, more: object = {}): object => ({
  index: 0,
  id: 'c1',
  type: 'function',
  function: { name, arguments: args },
  ...more,
})

/** Odd answers from Chat Completions, and from servers that imitate it. */
export const oddChatAnswers = named([
  ['nothing at all', [], 'was cut off'],
  ['an end without anything', [done()], 'ends with nothing'],
  ['an empty text', [delta({ role: 'assistant', content: '' }), done()], 'ends with nothing'],
  ['a text of blanks', [delta({ content: ' \n' }), done()], 'ends with nothing'],
  ['no content', [delta({ role: 'assistant', content: null }), done()], 'ends with nothing'],
  ['no delta', [{ choices: [{ index: 0 }] }, done()], 'ends with nothing'],
  ['a delta of null', [delta(null), done()], 'ends with nothing'],
  ['no choices', [{ choices: [] }, done()], 'ends with nothing'],
  [
    'a message instead of pieces',
    [{ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] }],
    'says "x" · ends',
  ],
  [
    'a message behind its pieces',
    [delta({ content: 'x' }), { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] }],
    'says "x" · ends',
  ],
  ['choices of null', [{ choices: null }, delta({ content: 'x' }), done()], 'says "x" · ends'],
  ['choices left out', [{ id: 'x' }, delta({ content: 'x' }), done()], 'says "x" · ends'],
  ['no usage', [delta({ content: 'x' }), done()], 'says "x" · ends'],
  ['a usage of null', [{ ...delta({ content: 'x' }), usage: null }, done()], 'says "x" · ends'],
  ['a usage of another shape', [delta({ content: 'x' }), done(), { choices: [], usage: 7 }], 'says "x" · ends'],
  ['damage behind the end', [delta({ content: 'x' }), done(), { choices: 7 }], 'says "x" · ends'],
  ['damage before the end', [delta({ content: 'x' }), { choices: 7 }], 'fails: malformed'],
  ['an event that is no object', ['x'], 'fails: malformed'],
  ['a text without an end', [delta({ content: 'x' })], 'was cut off after "x"'],
  ['an end with the text', [delta({ content: 'x' }, 'stop')], 'says "x" · ends'],
  ['an end in another word', [delta({ content: 'x' }), done('eos')], 'says "x" · ends'],
  ['an end in capitals', [delta({ content: 'x' }), done('STOP')], 'says "x" · ends'],
  [
    'a second choice',
    [{ choices: [{ delta: { content: 'x' } }, { delta: { content: 'y' } }] }, done()],
    'says "x" · ends',
  ],
  ['a refusal', [delta({ refusal: 'No.' }), done()], 'says "No." · ends'],
  ['a text in parts', [delta({ content: [{ type: 'text', text: 'x' }] }), done()], 'says "x" · ends'],
  ['an empty list of parts', [delta({ content: [] }), done()], 'ends with nothing'],
  [
    'a part of an unknown kind',
    [delta({ content: [{ type: 'shiny' }, { type: 'text', text: 'x' }] }), done()],
    'says "x" · ends',
  ],
  [
    'a thought in parts',
    [
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      delta({ content: 'x' }),
      done(),
    ],
    'thinks "hm" · says "x" · ends',
  ],
  [
    'a thought as a part',
    [delta({ content: [{ type: 'thinking', thinking: 'hm' }] }), done()],
    'thinks "hm" · ends with nothing',
  ],
  ['thinking alone', [delta({ reasoning_content: 'hm' }), done()], 'thinks "hm" · ends with nothing'],
  [
    'thinking in another field',
    [delta({ reasoning: 'hm' }), delta({ content: 'x' }), done()],
    'thinks "hm" · says "x" · ends',
  ],
  [
    'thinking in both fields',
    [delta({ reasoning: 'hm', reasoning_content: 'hm' }), delta({ content: 'x' }), done()],
    'thinks "hm" · says "x" · ends',
  ],
  [
    'details of a thought alone',
    [delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'z' }] }), delta({ content: 'x' }), done()],
    'keeps something · says "x" · ends',
  ],
  ['thinking in the text', [delta({ content: '<think>hm</think>x' }), done()], 'thinks "hm" · says "x" · ends'],
  [
    'thinking in the text, in pieces',
    [delta({ content: '<th' }), delta({ content: 'ink>hm</thi' }), delta({ content: 'nk>\n\nx' }), done()],
    'thinks "hm" · says "x" · ends',
  ],
  [
    'blanks before thinking in the text',
    [delta({ content: '\n<think>\nhm\n</think>\n\nx' }), done()],
    'thinks "hm" · says "x" · ends',
  ],
  ['an empty thought in the text', [delta({ content: '<think>\n\n</think>\n\nx' }), done()], 'says "x" · ends'],
  ['a thought that never ends', [delta({ content: '<think>hm' }), done()], 'thinks "hm" · ends with nothing'],
  [
    'a thought whose beginning the template had',
    [delta({ content: 'hm\n</think>\n\nx' }), done()],
    'thinks "hm" · says "x" · ends',
  ],
  [
    'a text about thoughts',
    [delta({ content: 'The tag </think> ends it.' }), done()],
    'says "The tag </think> ends it." · ends',
  ],
  [
    'a text that begins like a thought',
    [delta({ content: '<thinker> is a tag' }), done()],
    'says "<thinker> is a tag" · ends',
  ],
  [
    'thinking in the text before a call',
    [delta({ content: '<think>hm</think>' }), called(made('ls', '{}')), done('tool_calls')],
    'thinks "hm" · calls ls({}) · ends',
  ],
  ['the limit in a text', [delta({ content: 'x' }), done('length')], 'says "x" · is cut: length'],
  ['the limit in other words', [delta({ content: 'x' }), done('max_tokens')], 'says "x" · is cut: max_tokens'],
  ["Mistral's word for it", [delta({ content: 'x' }), done('model_length')], 'says "x" · is cut: model_length'],
  ['the limit before a word', [done('length')], 'is cut: length'],
  ['the limit in a thought', [delta({ reasoning_content: 'hm' }), done('length')], 'thinks "hm" · is cut: length'],
  ['the limit in a call', [called(made('ls', '{"a": "b')), done('length')], 'calls ls({"a": "b) cut · is cut: length'],
  ['the limit before arguments', [called(made('ls', '')), done('length')], 'calls ls({}) cut · is cut: length'],
  [
    'the limit behind a whole call',
    [called(made('ls', '{"a":1}')), done('length')],
    'calls ls({"a":1}) · is cut: length',
  ],
  [
    'the limit in the second call',
    [called(made('ls', '{"a":1}')), called(made('cat', '{"b"', { index: 1, id: 'c2' })), done('length')],
    'calls ls({"a":1}) · calls cat({"b") cut · is cut: length',
  ],
  ['a filtered answer', [delta({ content: 'x' }), done('content_filter')], 'fails: filtered for good'],
  ['a filtered answer, and why', [done('content_filter: SAFETY')], 'fails: filtered for good'],
  ['an error for an end', [delta({ content: 'x' }), done('error')], 'fails: server'],
  ['a call', [called(made('ls', '{}')), done('tool_calls')], 'calls ls({}) · ends'],
  ['a call that ends in "stop"', [called(made('ls', '{}')), done()], 'calls ls({}) · ends'],
  ['an end in calls without one', [done('tool_calls')], 'ends with nothing'],
  ['a list of calls of null', [delta({ content: 'x', tool_calls: null }), done()], 'says "x" · ends'],
  [
    'a call as it was before',
    [
      delta({ function_call: { name: 'ls', arguments: '{"a"' } }),
      delta({ function_call: { arguments: ':1}' } }),
      done('function_call'),
    ],
    'calls ls({"a":1}) · ends',
  ],
  ['arguments as an object', [called(made('ls', { a: 1 })), done()], 'calls ls({"a":1}) · ends'],
  ['no arguments', [called({ index: 0, id: 'c1', function: { name: 'ls' } }), done()], 'calls ls({}) · ends'],
  ['arguments of null', [called(made('ls', null)), done()], 'calls ls({}) · ends'],
  ['arguments of blanks', [called(made('ls', ' ')), done()], 'calls ls({}) · ends'],
  ['arguments that are not JSON', [called(made('ls', '{a}')), done()], 'calls ls({a}) · ends'],
  ['no id', [called({ index: 0, function: { name: 'ls', arguments: '{}' } }), done()], 'calls ls({}) · ends'],
  ['an id of null', [called(made('ls', '{}', { id: null })), done()], 'calls ls({}) · ends'],
  ['no index', [called({ id: 'c1', function: { name: 'ls', arguments: '{}' } }), done()], 'calls ls({}) · ends'],
  ['no name', [called({ index: 0, id: 'c1', function: { arguments: '{}' } }), done()], 'fails: malformed'],
  [
    'two calls with index 0',
    [called(made('ls', '{}')), called(made('cat', '{}', { id: 'c2' })), done()],
    'calls ls({}) · calls cat({}) · ends',
  ],
  [
    'two calls with index 0 and no id',
    [called(made('ls', '{"a":1}', { id: '' })), called(made('ls', '{"a":2}', { id: '' })), done()],
    'calls ls({"a":1}) · calls ls({"a":2}) · ends',
  ],
  [
    'two calls without id, index or arguments',
    [called({ function: { name: 'ls' } }), called({ function: { name: 'cat' } }), done()],
    'calls ls({}) · calls cat({}) · ends',
  ],
  [
    'two calls with one id',
    [called(made('ls', '{}')), called(made('cat', '{}', { index: 1 })), done()],
    'calls ls({}) · calls cat({}) · ends',
  ],
  [
    'a name in two pieces',
    [
      called(made('write_', '')),
      called({ index: 0, function: { name: 'file', arguments: '' } }),
      called({ index: 0, function: { arguments: '{}' } }),
      done(),
    ],
    'calls write_file({}) · ends',
  ],
  [
    'a name in three pieces, each with the id and the last with the arguments',
    [called(made('wri', '')), called(made('te_', '')), called(made('file', '{}')), done()],
    'calls write_file({}) · ends',
  ],
  [
    'a name in pieces, without ids and indexes',
    [
      called({ function: { name: 'write_' } }),
      called({ function: { name: 'file', arguments: '{"a"' } }),
      called({ function: { arguments: ':1}' } }),
      done(),
    ],
    'calls write_file({"a":1}) · ends',
  ],
  [
    'the name so far in each piece',
    [called(made('write_', '')), called(made('write_file', '{}')), done()],
    'calls write_file({}) · ends',
  ],
  [
    'the name of no tool in two pieces',
    [called(made('sh', '')), called({ index: 0, function: { name: 'iny', arguments: '{}' } }), done()],
    'calls shiny({}) · ends',
  ],
  [
    'two calls with index 0, no id and no arguments',
    [called(made('ls', '', { id: '' })), called(made('cat', '', { id: '' })), done()],
    'calls ls({}) · calls cat({}) · ends',
  ],
  [
    'the id and the name once more at the end',
    [called(made('ls', '{"a":1}')), called(made('ls', '')), done()],
    'calls ls({"a":1}) · ends',
  ],
  ['a name in each piece', [called(made('ls', '{"a"')), called(made('ls', ':1}')), done()], 'calls ls({"a":1}) · ends'],
  [
    'the id in each piece',
    [called(made('ls', '{"a"')), called({ index: 0, id: 'c1', function: { arguments: ':1}' } }), done()],
    'calls ls({"a":1}) · ends',
  ],
  [
    'pieces without an index',
    [called(made('ls', '{"a"')), called({ function: { arguments: ':1}' } }), done()],
    'calls ls({"a":1}) · ends',
  ],
  [
    'pieces of two calls in turns',
    [
      called(made('ls', '{"a"')),
      called(made('cat', '{"b"', { index: 1, id: 'c2' })),
      called({ index: 0, function: { arguments: ':1}' } }),
      called({ index: 1, function: { arguments: ':2}' } }),
      done(),
    ],
    'calls ls({"a":1}) · calls cat({"b":2}) · ends',
  ],
  ['a namespace before the name', [called(made('functions.ls', '{}')), done()], 'calls ls({}) · ends'],
  [
    'a channel behind the name',
    [called(made('functions.ls<|channel|>commentary', '{}')), done()],
    'calls ls({}) · ends',
  ],
  ['a text and a call', [delta({ content: 'x' }), called(made('ls', '{}')), done()], 'says "x" · calls ls({}) · ends'],
  ['blanks before a call', [delta({ content: '\n\n' }), called(made('ls', '{}')), done()], 'calls ls({}) · ends'],
  [
    'a text behind a call',
    [called(made('ls', '{}')), delta({ content: 'x' }), done()],
    'says "x" · calls ls({}) · ends',
  ],
  ['fields that nobody knows', [{ ...delta({ content: 'x' }), x_shiny: 1 }, done()], 'says "x" · ends'],
])

// Claude

const start = { type: 'message_start', message: { usage: { input_tokens: 1 } } }
const open = (index: number, content_block: object): object => ({ type: 'content_block_start', index, content_block })
const add = (index: number, type: string, piece: object): object => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...piece },
})
const close = (index: number): object => ({ type: 'content_block_stop', index })
const ending = (reason: string | null = 'end_turn'): readonly object[] => [
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
const words = (index: number, text: string): readonly object[] => [
  open(index, { type: 'text', text: '' }),
  add(index, 'text_delta', { text }),
  close(index),
]
const thought = (index: number, thinking: string, signature = 's'): readonly object[] => [
  open(index, { type: 'thinking', thinking: '', signature: '' }),
  add(index, 'thinking_delta', { thinking }),
  ...(signature === '' ? [] : [add(index, 'signature_delta', { signature })]),
  close(index),
]
const use = (index: number, json: string, block: object = {}): readonly object[] => [
  open(index, { type: 'tool_use', id: `t${index}`, name: 'ls', input: {}, ...block }),
  ...(json === '' ? [] : [add(index, 'input_json_delta', { partial_json: json })]),
  close(index),
]
const ask = (index: number, id = 's1'): readonly object[] => [
  open(index, { type: 'server_tool_use', id, name: 'web_search', input: {} }),
  add(index, 'input_json_delta', { partial_json: '{"query":"q"}' }),
  close(index),
]
const found = (index: number, content: unknown = [], id = 's1'): readonly object[] => [
  open(index, { type: 'web_search_tool_result', tool_use_id: id, content }),
  close(index),
]

/** Odd answers from Anthropic's Messages API. */
export const oddClaudeAnswers = named([
  ['nothing at all', [], 'was cut off'],
  ['a start alone', [start], 'was cut off'],
  ['an empty turn', [start, ...ending()], 'ends with nothing'],
  ['an end without a start', [...words(0, 'x'), ...ending()], 'says "x" · ends'],
  ['an empty text', [start, ...words(0, ''), ...ending()], 'ends with nothing'],
  ['a text of blanks', [start, ...words(0, '\n\n'), ...ending()], 'ends with nothing'],
  ['thinking alone', [start, ...thought(0, 'hm'), ...ending()], 'thinks "hm" · ends with nothing'],
  [
    'blocks without ends',
    [start, ...words(0, 'x').slice(0, -1), ...use(1, '{"a":1}').slice(0, -1), ...ending('tool_use')],
    'says "x" · calls ls({"a":1}) · ends',
  ],
  [
    'thinking that is not shown',
    [start, ...thought(0, ''), ...words(1, 'x'), ...ending()],
    'keeps something · says "x" · ends',
  ],
  [
    'sealed thinking',
    [start, open(0, { type: 'redacted_thinking', data: 'z' }), close(0), ...words(1, 'x'), ...ending()],
    'keeps something · says "x" · ends',
  ],
  [
    'thinking between words',
    [start, ...words(0, 'x'), ...thought(1, 'hm'), ...words(2, 'y'), ...ending()],
    'says "x" · thinks "hm" · says "y" · ends',
  ],
  ['words in two blocks', [start, ...words(0, 'x'), ...words(1, 'y'), ...ending()], 'says "xy" · ends'],
  ['a text in its start', [start, open(0, { type: 'text', text: 'x' }), close(0), ...ending()], 'says "x" · ends'],
  ['an index that is left out', [start, ...words(3, 'x'), ...ending()], 'says "x" · ends'],
  ['a ping', [start, { type: 'ping' }, ...words(0, 'x'), ...ending()], 'says "x" · ends'],
  ['an event of an unknown kind', [start, { type: 'shiny' }, ...words(0, 'x'), ...ending()], 'says "x" · ends'],
  [
    'a delta of an unknown kind',
    [start, open(0, { type: 'text', text: 'x' }), add(0, 'shiny', {}), close(0), ...ending()],
    'says "x" · ends',
  ],
  [
    'a block of an unknown kind',
    [start, open(0, { type: 'shiny' }), close(0), ...words(1, 'x'), ...ending()],
    'keeps something · says "x" · ends',
  ],
  [
    'a citation',
    [start, open(0, { type: 'text', text: 'x' }), add(0, 'citations_delta', { citation: {} }), close(0), ...ending()],
    'says "x" · ends',
  ],
  ['an event that is no object', [start, 'x'], 'fails: malformed'],
  ['an event without a type', [start, {}], 'fails: malformed'],
  ['a delta of a block that never began', [start, add(3, 'text_delta', { text: 'x' })], 'fails: malformed'],
  ['the end of a block that never began', [start, close(3)], 'fails: malformed'],
  ['no reason for the end', [start, ...words(0, 'x'), ...ending(null)], 'says "x" · ends'],
  ['an unknown reason', [start, ...words(0, 'x'), ...ending('shiny')], 'says "x" · ends'],
  ['an end without its last event', [start, ...words(0, 'x'), ...ending().slice(0, 1)], 'was cut off after "x"'],
  ['no usage', [{ type: 'message_start', message: {} }, ...words(0, 'x'), { type: 'message_stop' }], 'says "x" · ends'],
  ['a call', [start, ...use(0, '{"a":1}'), ...ending('tool_use')], 'calls ls({"a":1}) · ends'],
  [
    'a block that ends twice',
    [start, ...words(0, 'x'), close(0), ...use(1, '{}'), close(1), ...ending('tool_use')],
    'says "x" · calls ls({}) · ends',
  ],
  ['a block that comes twice', [start, ...words(0, 'x'), ...words(0, 'x'), ...ending()], 'says "x" · ends'],
  ['two blocks with index 0', [start, ...words(0, 'x'), ...words(0, 'y'), ...ending()], 'says "xy" · ends'],
  ['a call without input', [start, ...use(0, ''), ...ending('tool_use')], 'calls ls({}) · ends'],
  [
    'a call with its input at the start',
    [start, ...use(0, '', { input: { a: 1 } }), ...ending('tool_use')],
    'calls ls({"a":1}) · ends',
  ],
  ['a call with input that is not JSON', [start, ...use(0, '{a'), ...ending('tool_use')], 'calls ls({a) · ends'],
  ['a call without an id', [start, ...use(0, '{}', { id: '' }), ...ending('tool_use')], 'fails: malformed'],
  ['a call without a name', [start, ...use(0, '{}', { name: '' }), ...ending('tool_use')], 'fails: malformed'],
  ['a call that ends the turn', [start, ...use(0, '{}'), ...ending()], 'calls ls({}) · ends'],
  [
    'two calls',
    [start, ...use(0, '{}'), ...use(1, '{"a":1}'), ...ending('tool_use')],
    'calls ls({}) · calls ls({"a":1}) · ends',
  ],
  [
    'thinking between calls',
    [start, ...use(0, '{}'), ...thought(1, 'hm'), ...use(2, '{}'), ...ending('tool_use')],
    'calls ls({}) · thinks "hm" · calls ls({}) · ends',
  ],
  [
    'words behind a call',
    [start, ...use(0, '{}'), ...words(1, 'x'), ...ending('tool_use')],
    'calls ls({}) · says "x" · ends',
  ],
  ['an end in calls without one', [start, ...ending('tool_use')], 'ends with nothing'],
  ['the limit in a text', [start, ...words(0, 'x'), ...ending('max_tokens')], 'says "x" · is cut: max_tokens'],
  ['the limit before a word', [start, ...ending('max_tokens')], 'is cut: max_tokens'],
  [
    'the limit in a thought',
    [start, ...thought(0, 'hm', ''), ...ending('max_tokens')],
    'thinks "hm" · is cut: max_tokens',
  ],
  ['the limit in a call', [start, ...use(0, '{"a'), ...ending('max_tokens')], 'calls ls({"a) cut · is cut: max_tokens'],
  [
    'the limit before the input of a call',
    [start, ...use(0, ''), ...ending('max_tokens')],
    'calls ls({}) cut · is cut: max_tokens',
  ],
  [
    'the limit behind a whole call',
    [start, ...use(0, '{"a":1}'), ...ending('max_tokens')],
    'calls ls({"a":1}) · is cut: max_tokens',
  ],
  [
    'the limit in the second call',
    [start, ...use(0, '{}'), ...use(1, '{"a'), ...ending('max_tokens')],
    'calls ls({}) · calls ls({"a) cut · is cut: max_tokens',
  ],
  [
    'the end of the window',
    [start, ...words(0, 'x'), ...ending('model_context_window_exceeded')],
    'fails: context-overflow for good',
  ],
  ['a refusal', [start, ...words(0, 'x'), ...ending('refusal')], 'fails: filtered for good'],
  ['a search', [start, ...ask(0), ...found(1), ...words(2, 'x'), ...ending()], 'searches "q" · says "x" · ends'],
  [
    'words between a search and what it found',
    [start, ...ask(0), ...words(1, 'x'), ...found(2), ...ending()],
    'searches "q" · says "x" · searches "" · ends',
  ],
  [
    'a search that failed',
    [start, ...ask(0), ...found(1, { type: 'web_search_tool_result_error' }), ...words(2, 'x'), ...ending()],
    'searches "q" · says "x" · ends',
  ],
  [
    'two searches, answered the other way round',
    [start, ...ask(0, 'a'), ...ask(1, 'b'), ...found(2, [], 'a'), ...found(3, [], 'b'), ...words(4, 'x'), ...ending()],
    'searches "q" · searches "q" · searches "" · searches "" · says "x" · ends',
  ],
  ['a pause in a search', [start, ...ask(0), ...ending('pause_turn')], 'searches "q" · pauses'],
  ['a pause behind words', [start, ...words(0, 'x'), ...ending('pause_turn')], 'says "x" · pauses'],
  [
    'a search beside a call',
    [start, ...ask(0), ...use(1, '{}'), ...ending('tool_use')],
    'searches "q" · calls ls({}) · ends',
  ],
  [
    'a search whose input is not JSON',
    [
      start,
      open(0, { type: 'server_tool_use', id: 's', name: 'web_search' }),
      add(0, 'input_json_delta', { partial_json: '{q' }),
      close(0),
    ],
    'fails: malformed',
  ],
])

// Responses

const item = (value: object): object => ({ type: 'response.output_item.done', item: value })
const spoken = (text: string, more: object = {}): object => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
})
const completed = (output?: readonly object[]): object => ({
  type: 'response.completed',
  response: { usage: null, ...(output === undefined ? {} : { output }) },
})
const limited = (reason: string | null, output?: readonly object[]): object => ({
  type: 'response.incomplete',
  response: { incomplete_details: reason === null ? null : { reason }, ...(output === undefined ? {} : { output }) },
})
const call = (args: string, more: object = {}): object => ({
  type: 'function_call',
  call_id: 'c1',
  name: 'ls',
  arguments: args,
  ...more,
})

/** Odd answers from OpenAI's Responses API. */
export const oddResponsesAnswers = named([
  ['nothing at all', [], 'was cut off'],
  ['an end without anything', [completed()], 'ends with nothing'],
  ['an empty text', [item(spoken('')), completed()], 'ends with nothing'],
  ['a message without content', [item({ type: 'message', content: [] }), completed()], 'ends with nothing'],
  ['all of it at the end', [completed([spoken('x')])], 'says "x" · ends'],
  ['a call at the end', [completed([call('{}')])], 'calls ls({}) · ends'],
  ['all of it twice', [item(spoken('x')), completed([spoken('x')])], 'says "x" · ends'],
  [
    'an output of null',
    [item(spoken('x')), { type: 'response.completed', response: { output: null } }],
    'says "x" · ends',
  ],
  ['no end', [item(spoken('x'))], 'was cut off after "x"'],
  ['deltas alone', [{ type: 'response.output_text.delta', delta: 'x' }, completed()], 'ends with nothing'],
  [
    'a message that comes twice',
    [item(spoken('x', { id: 'm' })), item(spoken('x', { id: 'm' })), completed()],
    'says "x" · ends',
  ],
  [
    'a search that comes twice, by its place',
    [1, 1, 2].map((at) => ({ ...item({ type: 'web_search_call' }), output_index: at })).concat([completed()] as never),
    'searches "" · searches "" · ends with nothing',
  ],
  ['two messages', [item(spoken('x')), item(spoken('y')), completed()], 'says "x" · says "y" · ends'],
  [
    'a message of two parts',
    [
      item({
        type: 'message',
        content: [
          { type: 'output_text', text: 'x' },
          { type: 'output_text', text: 'y' },
        ],
      }),
      completed(),
    ],
    'says "xy" · ends',
  ],
  [
    'a refusal',
    [item({ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }), completed()],
    'says "No." · ends',
  ],
  ['a phase', [item(spoken('x', { phase: 'commentary' })), completed()], 'says "x" · ends'],
  ['a phase of null', [item(spoken('x', { phase: null })), completed()], 'says "x" · ends'],
  [
    'a citation',
    [item({ type: 'message', content: [{ type: 'output_text', text: 'x', annotations: [{}] }] }), completed()],
    'says "x" · ends',
  ],
  [
    'reasoning alone',
    [item({ type: 'reasoning', id: 'r', summary: [{ text: 'hm' }], encrypted_content: 'z' }), completed()],
    'thinks "hm" · ends with nothing',
  ],
  [
    'reasoning without a summary',
    [item({ type: 'reasoning', id: 'r', encrypted_content: 'z' }), item(spoken('x')), completed()],
    'keeps something · says "x" · ends',
  ],
  [
    'reasoning that is not sealed',
    [item({ type: 'reasoning', id: 'r', summary: [{ text: 'hm' }] }), item(spoken('x')), completed()],
    'thinks "hm" · says "x" · ends',
  ],
  ['a call', [item(call('{}')), completed()], 'calls ls({}) · ends'],
  ['a call without arguments', [item(call('')), completed()], 'calls ls() · ends'],
  ['a call without an id', [item(call('{}', { call_id: '' })), completed()], 'fails: malformed'],
  ['a call without a name', [item(call('{}', { name: '' })), completed()], 'fails: malformed'],
  [
    'a freeform call',
    [item({ type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'p' }), completed()],
    'calls patch(p) · ends',
  ],
  [
    'an item of an unknown kind',
    [item({ type: 'shiny' }), item(spoken('x')), completed()],
    'keeps something · says "x" · ends',
  ],
  ['an event of an unknown kind', [{ type: 'response.shiny' }, item(spoken('x')), completed()], 'says "x" · ends'],
  ['an event without a type', [{}], 'fails: malformed'],
  ['a message of another shape', [item({ type: 'message', content: 7 })], 'fails: malformed'],
  [
    'the limit in a text',
    [item(spoken('x', { status: 'incomplete' })), limited('max_output_tokens')],
    'says "x" · is cut: max_output_tokens',
  ],
  [
    'the limit in a text that comes at the end',
    [limited('max_output_tokens', [spoken('x')])],
    'says "x" · is cut: max_output_tokens',
  ],
  [
    'the limit in a call',
    [item(call('{"a', { status: 'incomplete' })), limited('max_output_tokens')],
    'calls ls({"a) cut · is cut: max_output_tokens',
  ],
  [
    'the limit in a call that comes at the end',
    [item(spoken('x')), limited('max_output_tokens', [spoken('x'), call('{"a', { status: 'incomplete' })])],
    'says "x" · calls ls({"a) cut · is cut: max_output_tokens',
  ],
  [
    'the limit in a patch',
    [
      item({ type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'p', status: 'incomplete' }),
      limited('max_output_tokens'),
    ],
    'calls patch(p) cut · is cut: max_output_tokens',
  ],
  ['the limit before a word', [limited('max_output_tokens')], 'is cut: max_output_tokens'],
  ['an answer that is not whole, nobody says why', [limited(null)], 'is cut: no reason given'],
  ['a filtered answer', [limited('content_filter')], 'fails: filtered for good'],
  [
    'a failure',
    [{ type: 'response.failed', response: { error: { code: 'server_error', message: 'Oops' } } }],
    'fails: server',
  ],
  ['a failure without a reason', [{ type: 'response.failed', response: { error: null } }], 'fails: server'],
  ['an error', [{ type: 'error', code: null, message: 'Oops' }], 'fails: server'],
  [
    'a search',
    [
      item({ type: 'web_search_call', id: 'w', action: { type: 'search', query: 'q' } }),
      item(spoken('x')),
      completed(),
    ],
    'searches "q" · says "x" · ends',
  ],
  [
    'a search in a new way',
    [item({ type: 'web_search_call', id: 'w', action: { type: 'shiny' } }), item(spoken('x')), completed()],
    'searches "" · says "x" · ends',
  ],
  [
    'a search that says nothing of itself',
    [item({ type: 'web_search_call', id: 'w' }), item(spoken('x')), completed()],
    'searches "" · says "x" · ends',
  ],
])
