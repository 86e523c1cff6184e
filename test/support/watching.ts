// An account of another API on duty, whose days a test writes itself, with what is shown and told of its mailboxes.
import { addDays, dayMs, type IsoDate, minuteMs, utcDate } from '../../src/core/time.ts';
import { calmPoll, goOnDuty } from '../account/duty.ts';
import { ending } from './ending.ts';
import { answerWith, OtherApi, type OtherMailbox } from './other-api.ts';

/** Cron times for tests of days. */
export const rarely = {
  ...calmPoll,
  health: '0 */6 * * *',
  mailboxes: '0 */2 * * *',
  stats: '10 */2 * * *',
  warmup: '20 */4 * * *',
  mailbox: '30 9 * * *',
  dns: '40 9 * * *',
  blacklist: '50 9 * * *',
};

/** A row as the API sends it. */
export interface Row {
  readonly date: IsoDate;
  readonly sent: number;
  readonly bounced: number;
  readonly delivered?: number;
  readonly bounce_rate?: string;
}

/** What a test says of a day, today's age being 0; null: the API has no row of it. */
export type DayOf = (age: number, date: IsoDate) => Omit<Row, 'date'> | null;

export const usual = { sent: 40, bounced: 0 };
export const empty = { sent: 0, bounced: 0 };

/** An account on duty, and the days of its mailboxes as the API tells them. */
export async function watching(
  names: readonly string[],
  given: {
    readonly poll?: typeof calmPoll;
    readonly warmup?: object | ((box: OtherMailbox, now: number) => object);
  } = {},
) {
  const api = await OtherApi.start(names);
  const { boxes } = api;
  const days = new Map<OtherMailbox, DayOf | Row[]>();
  const rowsOf = (box: OtherMailbox): Row[] => {
    const told = days.get(box) ?? (() => usual);
    if (Array.isArray(told)) return told;
    const today = utcDate(api.now());
    return Array.from({ length: 30 }, (_, index) => 29 - index).flatMap((age) => {
      const date = addDays(today, -age);
      const day = told(age, date);
      return day ? [{ date, ...day }] : [];
    });
  };
  for (const box of boxes) Object.defineProperty(box, 'statsInstead', { get: () => rowsOf(box) });
  const warmup = given.warmup;
  if (warmup) {
    api.fault = ({ method, path, mailboxId }) => {
      const box = boxes.find(({ id }) => id === mailboxId);
      if (method !== 'GET' || path !== '/v1/warmup' || !box) return undefined;
      const told = typeof warmup === 'function' ? warmup(box, api.now()) : warmup;
      const body = { mailbox_id: box.id, email: box.email, status: box.status, warmup_mode: box.mode, ...told };
      return answerWith(200, body);
    };
  }
  const duty = await goOnDuty({ other: api, poll: given.poll ?? calmPoll });
  const firing = (rule: string, box: OtherMailbox | null) =>
    duty.firing().find((alert) => alert.rule === rule && alert.mailboxId === (box?.id ?? null));
  return {
    api,
    boxes,
    duty,
    firing,
    tell: (box: OtherMailbox, told: DayOf | Row[]) => days.set(box, told),
    tellAll: (told: DayOf) => {
      for (const box of boxes) days.set(box, told);
    },
    reason: ({ email }: OtherMailbox) => duty.reason(email),
    state: ({ email }: OtherMailbox) => duty.state(email),
    reads: (box: OtherMailbox) => api.reads('/v1/stats', box).length,
    ...ending(duty, api),
  };
}

export type Watching = Awaited<ReturnType<typeof watching>>;

/** Runs until the statistics of a mailbox were read so many times more. */
export async function readAgain({ duty, reads }: Watching, box: OtherMailbox, times: number): Promise<void> {
  const before = reads(box);
  await duty.until(() => reads(box) >= before + times, 3 * dayMs);
  await duty.run(minuteMs);
}
