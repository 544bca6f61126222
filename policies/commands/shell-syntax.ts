/** Only this file imports the shell parser. Its tree is walked with an allow-list of node types, see walk.ts. */
export { parse as parseShell } from 'unbash'
export type {
  AndOr,
  ArithmeticExpression,
  Assignment,
  Case,
  Command,
  CommandNode,
  CompoundList,
  DoubleQuotedChild,
  HereDoc,
  If,
  ParameterExpansionPart,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  TestExpression,
  Word,
  WordPart,
} from 'unbash'
