// GET /api/silences, and the silences in other answers.
import { z } from 'zod';
import { silenceOf } from '../../alerts/routing.ts';
import { type Alert, type Silence, severities } from '../../core/alert.ts';
import { cursorOf, limitOf, pageAfter } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { told } from './example-facts.ts';
import { iso, listOf, moment, nextCursor, tellingOf, text, texts, timeZone } from './facts.ts';
import { fleetRoute } from './route.ts';

/** Beside an alert that goes on. */
export const silenced = z
  .strictObject({ by: text, until: moment })
  .nullable()
  .describe('Who silenced it, and until when; null: its messages are sent.');

const globs = texts.optional();

export const silence = z
  .strictObject({
    id: text,
    match: z.strictObject({
      severity: listOf(z.enum(severities)).optional(),
      account: globs,
      rule: globs,
      domain: globs,
      mailbox: globs,
      object: globs,
    }),
    by: text,
    reason: text,
    from: moment,
    until: moment,
  })
  .meta({ id: 'silence', description: 'Mutes the messages of the alerts that match, until it expires.' });

/** Until when, and by whom, the messages about an alert are muted. */
export function silencedJson(alert: Alert, silences: readonly Silence[]) {
  const silence = silenceOf(alert, silences);
  return silence && { by: silence.by, until: iso(silence.until) };
}

export function silenceJson({ id, match, by, reason, from, until }: Silence) {
  return { id, match, by, reason, from: iso(from), until: iso(until) };
}

export const exampleSilence = {
  id: 'tboz61i0',
  match: { rule: ['dns_*'] },
  by: 'anna',
  reason: 'DNS moves',
  from: '2026-03-10T16:30:01.000Z',
  until: '2026-03-10T20:30:01.000Z',
};

export const silencesAnswer = z.strictObject({
  time_zone: timeZone,
  silences: listOf(silence),
  next_cursor: nextCursor,
});

export type SilencesAnswer = z.infer<typeof silencesAnswer>;

export const silencesRoute = fleetRoute({
  path: '/api/silences',
  id: 'listSilences',
  summary: 'The silences in force; those that end first come first',
  query: { limit: limitOf('silences', 100), cursor: cursorOf('number', 'text') },
  shape: silencesAnswer,
  example: { time_zone: told.time_zone, silences: [exampleSilence], next_cursor: null },
  read: (parts: Pick<RouteParts, 'fleet' | 'world' | 'timeZone'>, { limit, cursor: after }) => {
    const { now, zone } = tellingOf(parts);
    const { rows, next } = pageAfter(parts.fleet.silences(now), ({ until, id }) => [until, id], { after, limit });
    return { time_zone: zone, silences: rows.map(silenceJson), next_cursor: next };
  },
});
