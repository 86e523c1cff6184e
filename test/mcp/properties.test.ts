// Whatever a service says of its recipes, runs and rows: tools that every client takes, and results that are inert.
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RunRecord } from '../../src/recipes/client/answers.ts';
import { runResult } from '../../src/recipes/mcp/tool-server.ts';
import { recipeTool, runTools } from '../../src/recipes/mcp/tools.ts';

const deceptive = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\p{Cs}]/u;
/** Ordinary letters, and what hides, reorders or breaks text. */
const unit = fc.constantFrom('a', 'é', '<', '"', '\u0007', '\n', '\u202e', '\u200b', '\ufeff', '\u2028', '\ud83d');
const words = fc.constantFrom('id', 'name', 'type', 'properties', 'required', 'enum', 'description', 'rows', 'data');
const json = fc.anything({
  key: fc.oneof(words, fc.string({ unit })),
  maxDepth: 4,
  withNullPrototype: false,
});
const parameters = fc.oneof(
  json,
  fc.array(fc.record({ name: fc.string(), type: json, required: json, default: json })),
);

/** As it would come over the wire: anything that JSON can't say is gone. */
function wired(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null');
}

it('any parameters make a tool that the strictest client takes', () => {
  fc.assert(
    fc.property(parameters, fc.string({ minLength: 1, unit }), fc.boolean(), (raw, id, foreign) => {
      const recipe = { id, title: id, description: id, parameters: wired(raw), operation: 'unknown' as const };
      const tool = recipeTool(recipe, foreign);
      expect(ListToolsResultSchema.safeParse({ tools: [wired(tool), ...runTools] }).success).toBe(true);
      expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(runTools.map(({ name }) => name)).not.toContain(tool.name);
      expect(JSON.stringify([tool.title, tool.description])).not.toMatch(deceptive);
    }),
  );
});

const run: RunRecord = {
  id: 'r',
  recipe: null,
  state: 'succeeded',
  stateSaid: null,
  rows: null,
  rowCount: null,
  truncated: false,
  apply: null,
  error: null,
};

it('any rows come out inert and of bounded size, with a cursor for what did not fit', () => {
  const long = fc.string({ unit, minLength: 2_000, maxLength: 6_000 });
  const rows = fc.array(fc.oneof(json, fc.record({ a: long, b: long })), { maxLength: 60 });
  fc.assert(
    fc.property(rows, (raw) => {
      const given = wired(raw) as readonly unknown[];
      let taken = -1;
      const cursorAfter = (count: number) => {
        taken = count;
        return count < given.length ? `${count}` : null;
      };
      const { structuredContent, content } = runResult(run, { rows: given, cursorAfter }, { acts: false });
      const { rows: shown } = structuredContent as { readonly rows: readonly object[] };
      expect(taken).toBe(shown.length);
      expect(shown.length > 0 || given.length === 0).toBe(true);
      expect(shown.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row))).toBe(true);
      expect(content[0]?.type === 'text' && content[0].text).not.toMatch(deceptive);
      if (shown.length > 1) expect(JSON.stringify(shown).length).toBeLessThan(210_000);
    }),
    { numRuns: 50 },
  );
});
