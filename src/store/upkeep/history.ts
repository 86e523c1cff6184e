// Forgets history that is older than its retention: decisions, what others changed, messages, expired silences.
import { sql } from 'kysely';
import type { SettledDelivery } from '../../core/delivery.ts';
import type { EpochMs } from '../../core/time.ts';
import { type Db, rowsAStep, type Walk } from './step.ts';

/** Those given last before that moment, but the newest on each mailbox that is known. */
export function oldDecisions(before: EpochMs): Walk {
  return {
    what: 'old decisions',
    first: [0],
    step: async (trx, [after = 0]) => {
      const rows = await trx
        .selectFrom('decisions')
        .select(['id', 'since', 'until'])
        .where('id', '>', Number(after))
        .orderBy('id')
        .limit(rowsAStep)
        .execute();
      // Ids grow with time: whatever follows a decision that began later ended later.
      const reached = rows.findIndex(({ since }) => since >= before);
      const walked = reached < 0 ? rows : rows.slice(0, reached);
      await forgetDecisions(
        trx,
        walked.filter(({ until }) => until < before).map(({ id }) => id),
      );
      return next(reached < 0 && rows.length === rowsAStep, [walked.at(-1)?.id]);
    },
  };
}

async function forgetDecisions(trx: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .deleteFrom('decisions')
    .where('id', 'in', ids)
    .where(({ exists, not, or, selectFrom }) =>
      or([
        exists(
          selectFrom('decisions as newer')
            .select('newer.id')
            .whereRef('newer.account', '=', 'decisions.account')
            .whereRef('newer.mailbox_id', '=', 'decisions.mailbox_id')
            .whereRef('newer.id', '>', 'decisions.id'),
        ),
        not(
          exists(
            selectFrom('mailboxes')
              .select('mailboxes.mailbox_id')
              .whereRef('mailboxes.account', '=', 'decisions.account')
              .whereRef('mailboxes.mailbox_id', '=', 'decisions.mailbox_id'),
          ),
        ),
      ]),
    )
    .execute();
}

/** What others changed, seen before that moment. */
export function oldChanges(before: EpochMs): Walk {
  return {
    what: 'old changes by others',
    first: [],
    step: async (trx) => {
      const rows = await trx.selectFrom('changes').select(['id', 'at']).orderBy('id').limit(rowsAStep).execute();
      const ids = rows.filter(({ at }) => at < before).map(({ id }) => id);
      if (ids.length > 0) await trx.deleteFrom('changes').where('id', 'in', ids).execute();
      return next(ids.length === rowsAStep, [0]);
    },
  };
}

/** Steps of alerts that messages were made of, before that moment. */
export function oldTransitions(before: EpochMs): Walk {
  return {
    what: 'old steps of alerts',
    first: [],
    step: async (trx) => {
      const oldest = trx.selectFrom('transitions').select(['id', 'at']).where('notified', '=', 1);
      const rows = await oldest.orderBy('id').limit(rowsAStep).execute();
      const ids = rows.filter(({ at }) => at < before).map(({ id }) => id);
      if (ids.length > 0) await trx.deleteFrom('transitions').where('id', 'in', ids).execute();
      return next(ids.length === rowsAStep, [0]);
    },
  };
}

/** Messages that were sent before that moment. */
export function sentDeliveries(before: EpochMs): Walk {
  return settledDeliveries('sent messages', 'sent', before, () => true);
}

/** Reminders in whose place a newer one was sent before that moment. */
export function replacedDeliveries(before: EpochMs): Walk {
  return settledDeliveries('replaced reminders', 'replaced', before, () => true);
}

/** Messages that were given up before that moment, of channels that are no longer there: the others can be sent again. */
export function undeliverableDeliveries(before: EpochMs, channels: readonly string[]): Walk {
  const there = new Set(channels);
  return settledDeliveries('messages to removed channels', 'dead', before, (channel) => !there.has(channel));
}

function settledDeliveries(
  what: string,
  state: SettledDelivery['state'],
  before: EpochMs,
  isOver: (channel: string) => boolean,
): Walk {
  return {
    what,
    first: [0, ''],
    step: async (trx, [settledAt = 0, id = '']) => {
      const rows = await trx
        .selectFrom('deliveries')
        .select(['id', 'channel', 'settled_at'])
        .where('state', '=', state)
        .where('settled_at', '<', before)
        .where(sql<boolean>`(settled_at, id) > (${settledAt}, ${id})`)
        .orderBy('settled_at')
        .orderBy('id')
        .limit(rowsAStep)
        .execute();
      const ids = rows.filter(({ channel }) => isOver(channel)).map((row) => row.id);
      if (ids.length > 0) await trx.deleteFrom('deliveries').where('id', 'in', ids).execute();
      const last = rows.at(-1);
      return next(rows.length === rowsAStep, [last?.settled_at ?? 0, last?.id]);
    },
  };
}

/** Those that have expired: who silenced what stays in the audit log. */
export function expiredSilences(now: EpochMs): Walk {
  return {
    what: 'expired silences',
    first: [],
    step: async (trx) => {
      const expired = trx.selectFrom('silences').select('id').where('until', '<=', now).limit(rowsAStep);
      const ids = (await expired.execute()).map(({ id }) => id);
      if (ids.length > 0) await trx.deleteFrom('silences').where('id', 'in', ids).execute();
      return next(ids.length === rowsAStep, [0]);
    },
  };
}

/** Those that ended before that moment. */
export function oldIncidents(before: EpochMs): Walk {
  return {
    what: 'old incidents',
    first: [],
    step: async (trx) => {
      const ended = trx.selectFrom('incidents').select('id').where('ended_at', '<', before).limit(rowsAStep);
      const ids = (await ended.execute()).map(({ id }) => id);
      if (ids.length > 0) await trx.deleteFrom('incidents').where('id', 'in', ids).execute();
      return next(ids.length === rowsAStep, [0]);
    },
  };
}

function next(goesOn: boolean, cursor: readonly (string | number | undefined)[]) {
  return goesOn ? cursor.map((part) => part ?? 0) : null;
}
