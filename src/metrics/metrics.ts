// Answers a scrape: the mailboxes' series from their cached blocks, the fleet's and our own made afresh.
import type { Fleet } from '../core/fleet/fleet.ts';
import type { Tally } from '../core/tally.ts';
import { createPacer, droppedLines, type Pacer, type World } from '../world/world.ts';
import { type Piece, pieceOf } from './exposition/piece.ts';
import type { Format } from './exposition/text.ts';
import { type Family, familyLines } from './family.ts';
import { fleetFamilies, type MetricsSettings } from './fleet-series.ts';
import { MailboxBlocks } from './mailbox-blocks.ts';
import { createOwnMetrics } from './own-metrics.ts';
import { type Answer, answerOf, formatFor, type ScrapeRequest } from './scrape-answer.ts';

/** The loop belongs to others after so much work. */
const sliceMs = 2;
/** As much as a block of mailboxes has. */
const pieceLetters = 32 * 1024;

export interface MetricsParts {
  readonly fleet: Fleet;
  readonly version: string;
  readonly world: World;
  /** What the configuration that the daemon started with says. */
  readonly settings: MetricsSettings;
}

export interface Metrics {
  readonly tally: Tally;
  /** The answer to a scrape. Touches neither store nor network, and yields the event loop. Several may run at once: the route limits them. */
  expose(request: ScrapeRequest): Promise<Answer>;
  /** A reloaded configuration is in force. */
  configured(settings: MetricsSettings): void;
  /** A configuration was refused; the one before stays in force. */
  configRefused(): void;
}

/** The daemon's metrics. */
export function createMetrics({ fleet, version, world, settings }: MetricsParts): Metrics {
  const { clock, log } = world;
  let inForce = settings;
  const own = createOwnMetrics(fleet, version, () => droppedLines(log));
  const mailboxes = new MailboxBlocks(fleet, clock, settings);
  own.configTaken(clock.now());
  /** Those that are being made, or may still be read. */
  let answers = 0;
  // One alone is the one that is about to be made.
  const scrapes = takingTurns(() => mailboxes.pieces(answers === 1));
  let saidOmitted = 0;
  const sayOmitted = (omitted: number) => {
    const limit = inForce.seriesLimit;
    if (omitted > 0 && saidOmitted === 0)
      log.warn(
        { omitted, limit },
        'metrics.series_limit omits mailboxes from /metrics; Warmwarden still watches them all',
      );
    if (omitted === 0 && saidOmitted > 0) log.info({ limit }, 'every mailbox is in /metrics again');
    saidOmitted = omitted;
  };
  return {
    tally: own.tally,
    async expose({ accept, acceptEncoding, ready, over }) {
      const format = formatFor(accept);
      answers += 1;
      try {
        const blocks = await scrapes();
        sayOmitted(mailboxes.omitted());
        const pacer = createPacer(sliceMs);
        const ofFleet = await fleetFamilies(fleet, mailboxes, { settings: inForce, now: clock.now(), ready }, pacer);
        const families = [...ofFleet, ...(await own.families(pacer))];
        const pieces = [...blocks, ...(await piecesOf(families, format, pacer))];
        return await answerOf(pieces, format, { acceptEncoding, pacer });
      } finally {
        void over?.then(() => {
          answers -= 1;
        });
      }
    },
    configured(changed) {
      inForce = changed;
      mailboxes.configured(changed);
      own.configTaken(clock.now());
    },
    configRefused: () => own.configRefused(),
  };
}

/** Families that are written for each scrape. Compressed together: a piece costs more than the text of most families. */
async function piecesOf(families: readonly Family[], format: Format, pacer: Pacer): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  let text = '';
  for (const family of families) {
    for (const lines of familyLines(family, format)) {
      text += lines;
      if (text.length <= pieceLetters) continue;
      pieces.push(pieceOf(text));
      text = '';
      if (pacer.due()) await pacer.turn();
    }
    if (pacer.due()) await pacer.turn();
  }
  return [...pieces, pieceOf(format === 'openmetrics' ? `${text}# EOF\n` : text)];
}

/** Runs one at a time. Who asks while one runs gets the next one, together with everybody else who asked meanwhile. */
function takingTurns<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | null = null;
  return () => {
    next ??= running.then(() => {
      next = null;
      const result = run();
      running = result.catch(() => {});
      return result;
    });
    return next;
  };
}
