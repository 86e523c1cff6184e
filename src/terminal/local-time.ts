// Moments for the person at the terminal: in the time zone of the system, named by its offset.
import type { EpochMs } from '../model/time.ts';

/** The zone that TZ names, or the one that the system is set to. */
function zoneOfSystem(): string {
  return new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
}

/** `20 March 11:02 UTC+01:00`; `20 March 10:02 UTC` where the offset is none. */
export function localMoment(at: EpochMs | string, timeZone = zoneOfSystem()): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  const parts = new Map(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]));
  const zone =
    parts
      .get('timeZoneName')
      ?.replace('GMT', 'UTC')
      .replace(/[+-]00:00$/, '') ?? 'UTC';
  return `${parts.get('day')} ${parts.get('month')} ${parts.get('hour')}:${parts.get('minute')} ${zone}`;
}
