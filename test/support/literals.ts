// The string and template literals of a TypeScript file: what it may show to a user.
import { parseSync, Visitor } from 'rolldown/utils';

export interface Literal {
  /** From 1. */
  readonly line: number;
  /** As it is written, escapes and all; `…` takes the place of what a template fills in. */
  readonly text: string;
}

/** In the order in which they begin; those inside `${}` are literals of their own. */
export function literalsOf(source: string): readonly Literal[] {
  const found: Literal[] = [];
  const keep = (at: number, text: string) => found.push({ line: source.slice(0, at).split('\n').length, text });
  const { program } = parseSync('source.ts', source);
  new Visitor({
    Literal: ({ start, value, raw }) => void (typeof value === 'string' && keep(start, raw?.slice(1, -1) ?? '')),
    TemplateLiteral: ({ start, quasis }) => void keep(start, quasis.map((one) => one.value.raw).join('…')),
  }).visit(program);
  return found;
}
