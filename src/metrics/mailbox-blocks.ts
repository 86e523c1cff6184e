// Series of the mailboxes as compressed blocks. A scrape renders again only the series of a block of which a value
// changed: compression is most of the work, and most values stay the same between two scrapes.
import type { Fleet } from '../core/fleet/fleet.ts';
import { guardStateOf } from '../core/guard/run-state.ts';
import { type GuardState, type MailboxState, tagParts } from '../core/mailbox.ts';
import { type EpochMs, utcDate } from '../core/time.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { type Clock, createPacer } from '../world/world.ts';
import { headText, labelText, sampleText } from './exposition.ts';
import type { AccountCounts, MetricsSettings } from './fleet-series.ts';
import { infoGauge, infoLabels, mailboxGauges, mailboxValues, tagGauge } from './mailbox-series.ts';
import { type Piece, pieceOf } from './scrape-answer.ts';

const sliceMs = 2;
/** Mailboxes in a block. Smaller blocks render fewer unchanged values, but each compression has a fixed cost. */
const blockSize = 256;

const heads = new Map(
  [...mailboxGauges, tagGauge].map((gauge) => [gauge, pieceOf(headText({ ...gauge, type: 'gauge' }))]),
);
/** Series of all mailboxes: a column of each block. */
const columns = [...mailboxGauges, tagGauge]
  .flatMap((gauge) => gauge.series.map(({ labels }) => ({ gauge, labels: labelText(labels) })))
  .map((column, index) => ({ ...column, index }));
type Column = (typeof columns)[number];

interface SeriesRow {
  readonly mailbox: MailboxState;
  readonly isStale: boolean;
  readonly state: GuardState;
  readonly enforced: boolean;
  readonly name: string;
  /** Labels that name the mailbox, and those that describe it in mailbox_info. */
  readonly identity: string;
  readonly info: string;
  readonly tags: readonly string[];
  readonly values: readonly number[];
}

interface Block {
  rows: readonly SeriesRow[];
  /** Pieces by column, each null for a column without a sample. */
  readonly pieces: (Piece | null)[];
}

export class MailboxBlocks {
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  #settings: MetricsSettings;
  #blocks: Block[] = [];
  /** Day of the blocks: daily rows too far in the future do not count, so the next day may give other values. */
  #day = '';

  constructor(fleet: Fleet, clock: Clock, settings: MetricsSettings) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Drops all blocks, because any name or state may have changed. */
  configured(settings: MetricsSettings): void {
    this.#settings = settings;
    this.#blocks = [];
  }

  /** Returns the series, and the counts of mailboxes by account. Calls must not overlap. */
  async render() {
    const now = this.#clock.now();
    if (utcDate(now) !== this.#day) this.#blocks = [];
    this.#day = utcDate(now);
    // A reload may replace the settings and the blocks meanwhile: they hold from the next scrape on.
    const [blocks, settings] = [this.#blocks, this.#settings];
    const { rows, counts } = await this.#rows(blocks, settings, now);
    const pacer = createPacer(sliceMs);
    blocks.length = Math.ceil(rows.length / blockSize);
    for (let index = 0; index < blocks.length; index += 1) {
      const block = blocks[index] ?? { rows: [], pieces: [] };
      blocks[index] = block;
      const next = rows.slice(index * blockSize, (index + 1) * blockSize);
      for (const column of columns) {
        if (next.length === block.rows.length && next.every((row, at) => isSame(row, block.rows[at], column))) continue;
        const text = next.map((row) => linesOf(row, column)).join('');
        block.pieces[column.index] = text === '' ? null : pieceOf(text);
        if (pacer.due()) await pacer.turn();
      }
      block.rows = next;
    }
    return { pieces: joined(blocks), counts };
  }

  /** Keeps the order of the fleet, those known longest first, and the rows of unchanged mailboxes. */
  async #rows(blocks: readonly Block[], settings: MetricsSettings, now: EpochMs) {
    const pacer = createPacer(sliceMs);
    const counts = new Map<string, AccountCounts>();
    const rows: SeriesRow[] = [];
    for (const mailbox of this.#fleet.mailboxes()) {
      const { account, id } = mailbox;
      const name = settings.mailboxLabel === 'id' ? visibleText(id) : this.#fleet.nameOf(mailbox);
      const known = blocks[Math.floor(rows.length / blockSize)]?.rows[rows.length % blockSize];
      const isStale = this.#fleet.isStale(mailbox);
      const isKnown = known?.mailbox === mailbox && known.name === name && known.isStale === isStale;
      const row = isKnown ? known : rowOf({ mailbox, name, isStale }, settings, now);
      rows.push(row);
      const ofAccount = counts.get(account) ?? { states: new Map(), enforced: 0, notEnforced: 0 };
      counts.set(account, ofAccount);
      ofAccount.states.set(row.state, (ofAccount.states.get(row.state) ?? 0) + 1);
      if (row.enforced && this.#fleet.writesAllowed(account, id, now)) ofAccount.enforced += 1;
      else ofAccount.notEnforced += 1;
      if (pacer.due()) await pacer.turn();
    }
    return { rows, counts };
  }
}

function rowOf(
  { mailbox, name, isStale }: Pick<SeriesRow, 'mailbox' | 'name' | 'isStale'>,
  settings: MetricsSettings,
  now: EpochMs,
): SeriesRow {
  const { nearLimitPpm, enforce: enforced } = settings.policyOf(mailbox);
  const tags = settings.tagsOf(mailbox);
  const state = guardStateOf(mailbox, nearLimitPpm, isStale);
  const identity = labelText({ account: mailbox.account, mailbox: name });
  const info = labelText(infoLabels(mailbox));
  const values = mailboxValues(mailbox, state, now);
  return { mailbox, name, isStale, state, enforced, identity, info, tags, values };
}

function isSame(row: SeriesRow, before: SeriesRow | undefined, { gauge, index }: Column): boolean {
  if (row === before) return true;
  if (before?.identity !== row.identity) return false;
  const hasSameLabels =
    (gauge !== infoGauge || before.info === row.info) && (gauge !== tagGauge || before.tags === row.tags);
  return hasSameLabels && Object.is(before.values[index], row.values[index]);
}

function linesOf({ identity, info, tags, values }: SeriesRow, { gauge, labels, index }: Column): string {
  const line = (own: string, value: number) => `${gauge.name}{${identity}${own && `,${own}`}} ${sampleText(value)}\n`;
  if (gauge === tagGauge)
    return tags
      .map(tagParts)
      .map(([tag, value]) => line(labelText({ tag, value }), 1))
      .join('');
  const value = values[index] ?? Number.NaN;
  return Number.isNaN(value) ? '' : line(gauge === infoGauge ? info : labels, value);
}

function joined(blocks: readonly Block[]): readonly Piece[] {
  const pieces = new Map([...heads].map(([gauge, head]) => [gauge, [head]]));
  for (const { gauge, index } of columns)
    pieces.get(gauge)?.push(...blocks.flatMap((block) => block.pieces[index] ?? []));
  return [...pieces.values()].flatMap((ofGauge) => (ofGauge.length === 1 ? [] : ofGauge));
}
