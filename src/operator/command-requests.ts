// What a person may ask of the daemon, as it comes over the socket or over HTTP: read, and passed to the command it names.
import { z } from 'zod';
import { severities } from '../model/alert.ts';
import type { CommandOutcome, DaemonCommands } from '../model/operator-command.ts';
import { warmupModes } from '../model/policy.ts';
import { dayMs } from '../model/time.ts';

/** Carries out the command `name`. An unknown one, or a body that cannot be read, is refused in a sentence. */
export async function answerCommand(name: string, body: unknown, commands: DaemonCommands): Promise<CommandOutcome> {
  const carryOut = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (!carryOut) return { done: false, said: ['This daemon has no such operation.'] };
  const outcome = carryOut(body, commands);
  return (
    outcome ?? { done: false, said: ['The request cannot be read. Is the command of another version than the daemon?'] }
  );
}

export function refusal(error: unknown): CommandOutcome {
  return { done: false, said: [error instanceof Error ? error.message : String(error)] };
}

/** Longer than anybody means; what goes beyond has no date any more. */
const longestMs = 10 * 365 * dayMs;
const span = z.number().positive().max(longestMs);
const requester = { by: z.string().default('somebody'), reason: z.string().default('') };
const globs = z.array(z.string()).optional();
const match = z.strictObject({
  severity: z.array(z.enum(severities)).optional(),
  account: globs,
  rule: globs,
  mailbox: globs,
  domain: globs,
});
const previewed = { preview: z.boolean().default(false) };
const oneMailbox = z.object({ ...requester, ...previewed, mailbox: z.string() });

/** What each command takes. */
const readers: Readonly<Record<string, (body: unknown, commands: DaemonCommands) => Promise<CommandOutcome> | null>> = {
  release: reading(z.object({ ...requester, ...previewed, mailbox: z.string().nullable() }), (request, commands) =>
    commands.release(request),
  ),
  writes: reading(
    z.object({
      ...requester,
      ...previewed,
      off: z.boolean(),
      account: z.string().nullable(),
      mailbox: z.string().nullable(),
      forMs: span.nullable(),
    }),
    (request, commands) => commands.writes(request),
  ),
  pause: reading(oneMailbox, (request, commands) => commands.pause(request)),
  resume: reading(oneMailbox, (request, commands) => commands.resume(request)),
  mode: reading(oneMailbox.extend({ mode: z.enum(warmupModes) }), (request, commands) => commands.mode(request)),
  undo: reading(z.object({ ...requester, ...previewed, sinceMs: span }), (request, commands) => commands.undo(request)),
  reload: reading(
    z.object({ by: requester.by, force: z.boolean().default(false), dryRun: z.boolean().default(false) }),
    (request, commands) => commands.reload(request),
  ),
  resend: reading(
    z.object({ ...requester, channel: z.string().nullable(), delivery: z.string().nullable() }),
    (request, commands) => commands.resend(request),
  ),
  refresh: reading(z.object({ ...requester, mailbox: z.string() }), (request, commands) => commands.refresh(request)),
  silence: reading(z.object({ ...requester, ...previewed, match, forMs: span }), (request, commands) =>
    commands.silence(request),
  ),
  endSilence: reading(z.object({ ...requester, id: z.string() }), (request, commands) => commands.endSilence(request)),
};

function reading<Shape extends z.ZodType>(
  shape: Shape,
  carryOut: (request: z.infer<Shape>, commands: DaemonCommands) => Promise<CommandOutcome>,
): (body: unknown, commands: DaemonCommands) => Promise<CommandOutcome> | null {
  return (body, commands) => {
    const request = shape.safeParse(body);
    return request.success ? carryOut(request.data, commands) : null;
  };
}
