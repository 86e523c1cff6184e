// Answers a scrape: series of mailboxes from cached blocks, series of the fleet and of the daemon computed anew.
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

/** Maximum work before the event loop is yielded, milliseconds. */
const sliceMs = 2;
/** Length at which a text becomes a piece: about that of a block of mailboxes. */
const pieceLetters = 32 * 1024;

export interface MetricsParts {
  readonly fleet: Fleet;
  readonly version: string;
  readonly world: World;
  /** Settings from the configuration at the daemon's start. */
  readonly settings: MetricsSettings;
}

export interface Metrics {
  readonly tally: Tally;
  /**
   * Answers a scrape. Uses neither store nor network, and yields the event loop. Calls may overlap; the route limits
   * them.
   */
  expose(request: ScrapeRequest): Promise<Answer>;
  /** Applies a reloaded configuration. */
  configured(settings: MetricsSettings): void;
  /** Records that a configuration was refused; the previous one stays in force. */
  configRefused(): void;
}

/** Creates the daemon's metrics. */
export function createMetrics({ fleet, version, world, settings }: MetricsParts): Metrics {
  const { clock, log } = world;
  let inForce = settings;
  const own = createOwnMetrics(fleet, version, () => droppedLines(log));
  const mailboxes = new MailboxBlocks(fleet, clock, settings);
  own.configTaken(clock.now());
  /** Number of responses in preparation or still being read. */
  let answers = 0;
  // A count of 1 is only the response about to be prepared, so no earlier piece is still in use.
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

/**
 * Writes and compresses families for one scrape. Families share pieces, because a piece costs more than the text of
 * most families.
 */
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

/** Returns a function whose runs never overlap. Calls during a run share the next run. */
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
