// Scenarios, faults and incidents as people write them: checked, with durations such as "90m" turned into milliseconds.
import { z } from 'zod';
import { agencyFleet, fleetOf } from './agency-fleet.ts';
import { type FaultRule, faultRoutes } from './fault.ts';
import { warmupModes } from './ramp.ts';
import type { Incident, Scenario } from './scenario.ts';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const maxMailboxes = 20_000;

/** Milliseconds, or a text such as 90s, 5m, 1.5h, 2d. */
const duration = z
  .custom<number | string>(
    (value) => (typeof value === 'number' ? value >= 0 : /^\d+(\.\d+)?[smhd]$/.test(String(value))),
    'must be milliseconds, or a duration such as 90s, 5m, 1.5h or 2d',
  )
  .transform((value) =>
    typeof value === 'number' ? value : Number(value.slice(0, -1)) * unitMs[value.slice(-1) as keyof typeof unitMs],
  );

const edit = z.strictObject({
  set: z.record(z.string(), z.unknown()).optional(),
  remove: z.array(z.string()).optional(),
  repeat: z.array(z.string()).optional(),
  reverse: z.array(z.string()).optional(),
  keep: z.record(z.string(), z.int().min(0)).optional(),
  shift: z.record(z.string(), z.int()).optional(),
});

const behaviour = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('answer'),
    status: z.int().min(200).max(599),
    body: z.unknown(),
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
    applied: z.boolean().optional(),
  }),
  z.strictObject({ do: z.literal('pretend') }),
  z.strictObject({ do: z.literal('late'), ms: z.number().min(0) }),
  z.strictObject({ do: z.literal('cut'), applied: z.boolean() }),
  z.strictObject({ do: z.literal('stall'), at: z.enum(['head', 'body', 'drip']) }),
  z.strictObject({ do: z.literal('cut-body'), gzip: z.boolean() }),
  z.strictObject({ do: z.literal('encode'), as: z.enum(['gzip', 'br', 'plain_as_gzip']) }),
  z.strictObject({ do: z.literal('huge'), status: z.int().min(200).max(599), gzip: z.boolean() }),
  z.strictObject({ do: z.literal('forget') }),
  z.strictObject({ do: z.literal('freeze') }),
  z.strictObject({ do: z.literal('edit'), edit }),
]);

const faultRule = z.strictObject({
  fault: z.union([z.string(), behaviour]),
  route: z.enum(faultRoutes).optional(),
  method: z.enum(['GET', 'POST']).optional(),
  mailbox: z.string().optional(),
  from: duration.optional(),
  until: duration.optional(),
  times: z.int().min(1).optional(),
});

const provider = z.enum(['google', 'microsoft', 'zoho', 'custom']);
const happening = { mailbox: z.string(), provider: provider.optional(), from: duration, until: duration.optional() };

const incident = z.discriminatedUnion('kind', [
  z.strictObject({ ...happening, kind: z.literal('bounce'), rate: z.number().min(0).max(1) }),
  z.strictObject({ ...happening, kind: z.literal('block') }),
  z.strictObject({ ...happening, kind: z.literal('dns'), records: z.array(z.enum(['spf', 'dkim', 'dmarc'])).min(1) }),
  z.strictObject({ ...happening, kind: z.literal('listing'), lists: z.array(z.string()).min(1) }),
  z.strictObject({ ...happening, kind: z.literal('disconnect'), error: z.string().min(1) }),
  z.strictObject({ ...happening, kind: z.literal('service_pause') }),
  z.strictObject({ ...happening, kind: z.literal('reconnect') }),
]);

const hour = z.int().min(0).max(24);
const mailbox = z.strictObject({
  email: z.string().regex(/^[^\s@]+@[^\s@]+$/, 'an address'),
  provider: provider.default('custom'),
  mode: z.enum(warmupModes).default('balanced'),
  startedDaysAgo: z.int().min(0).default(30),
  weekdaysOnly: z.boolean().optional(),
  sendWindow: z.tuple([hour, hour]).optional(),
});

const scenario = z.strictObject({
  name: z.string().default('file'),
  summary: z.string().default('Defined in the scenario file.'),
  /** Mailboxes by name, or how many; the agency's twelve without it. */
  fleet: z.union([z.int().min(1).max(maxMailboxes), z.array(mailbox).min(1)]).optional(),
  incidents: z.array(incident).default([]),
  faults: z.array(faultRule).default([]),
});

/** Throws a ZodError, which `fromError` puts into words. */
export function readFaultRule(value: unknown): FaultRule {
  return faultRule.parse(value) as FaultRule;
}

/** Throws a ZodError. */
export function readIncident(value: unknown): Incident {
  return incident.parse(value) as Incident;
}

/** Throws a ZodError. */
export function readScenario(value: unknown): Scenario {
  const { fleet, ...rest } = scenario.parse(value);
  const mailboxes = typeof fleet === 'number' ? fleetOf(fleet) : (fleet ?? agencyFleet);
  return { ...rest, fleet: mailboxes } as Scenario;
}

/** What is wrong, in one sentence. */
export function fromError(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map(({ message, path }) => `${path.join('.') || 'the whole'}: ${message}`).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
