// Runs and rows as tool results: one JSON object, as structured content and as text, inert and of bounded size.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { inertRow, inertText } from './inert.ts';
import type { ToolRows, ToolRun } from './source.ts';
import { dataNote, followTool } from './tools.ts';

/** The rows of one answer, as JSON: an assistant has to read them. The first row is always shown. */
const maxRowsCharacters = 200_000;
const maxSaidCharacters = 1_000;

/** Why a call did not work, for the assistant to mend it. */
export function refusedResult(said: readonly string[]): CallToolResult {
  const text = said.map((sentence) => inertText(sentence, maxSaidCharacters)).join('\n');
  return { content: [{ type: 'text', text }], isError: true };
}

/** What else to say of a run. */
interface About {
  /** Its recipe can act. */
  readonly acts: boolean;
  /** The call was to cancel it. */
  readonly cancelling?: boolean;
}

/** A run with a page of its rows; of a run that goes on, or whose rows nobody asked for, `page` is null. */
export function runResult(run: ToolRun, page: ToolRows | null, about: About): CallToolResult {
  const rows = packed(page?.rows ?? []);
  const cursor = page?.cursorAfter(rows.length) ?? null;
  const structured = {
    note: about.cancelling ? cancelNoteOf(run) : noteOf(run, page, about),
    run_id: run.id,
    ...(run.recipe === null ? {} : { recipe: inertText(run.recipe, maxSaidCharacters) }),
    status: run.status,
    ...(run.apply === null || !about.acts ? {} : { apply: run.apply }),
    ...(run.error === null ? {} : { error: inertText(run.error, maxSaidCharacters) }),
    rows,
    ...(run.rowCount === null ? {} : { row_count: run.rowCount }),
    ...(cursor === null ? {} : { next_cursor: cursor }),
    truncated: run.truncated,
  };
  return {
    content: [{ type: 'text', text: JSON.stringify(structured) }],
    structuredContent: structured,
    ...(run.status === 'failed' ? { isError: true } : {}),
  };
}

/** As many of the first rows as fit. */
function packed(rows: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] {
  const kept: Readonly<Record<string, unknown>>[] = [];
  let characters = 0;
  for (const raw of rows) {
    const row = inertRow(raw);
    characters += JSON.stringify(row).length;
    if (kept.length > 0 && characters > maxRowsCharacters) break;
    kept.push(row);
  }
  return kept;
}

const dryRunNote =
  'Nothing was done: this was a dry run. To carry out the actions, ask the user first, then call the tool again with apply: true.';

function noteOf(run: ToolRun, page: ToolRows | null, { acts }: About): string {
  const goesOn = `The run has not ended. Call ${followTool} with run_id ${JSON.stringify(inertText(run.id, 200))} to continue.`;
  switch (run.status) {
    case 'queued':
    case 'running':
      return goesOn;
    case 'unknown':
      return `The service uses an unknown word for the state of the run, so the run may still be in progress. ${dataNote}`;
    case 'failed':
      return 'The run failed: see error.';
    case 'cancelled':
      return 'The run was cancelled.';
    case 'succeeded':
      if (page?.rows === null) return 'The run succeeded, but the service shows no rows of it.';
      return acts && run.apply === false ? `${dryRunNote} ${dataNote}` : dataNote;
  }
}

function cancelNoteOf({ status }: ToolRun): string {
  if (status === 'cancelled') return 'The run was cancelled.';
  const hasEnded = status === 'succeeded' || status === 'failed';
  if (hasEnded) return 'The run had already ended, so nothing was cancelled.';
  return `The run has not ended yet: ${followTool} shows when it has.`;
}
