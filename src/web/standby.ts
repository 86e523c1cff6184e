// What a standby answers over HTTP: that it runs, and which process is active.
import { listenerFor, type RunningServer, type ServerPlace } from './server.ts';

/** `name` says which process is active; `failure` says why this one could not become active, or null. */
export interface StandbyState {
  readonly active: string;
  readonly failure: string | null;
}

/** Rejects with one clear sentence when the address can't be had. */
export function startStandbyServer(
  place: ServerPlace,
  state: () => StandbyState,
): Promise<Pick<RunningServer, 'close'>> {
  return listenerFor(place, async (path) => answerTo(path, state()));
}

export function standbyText({ active }: Pick<StandbyState, 'active'>): string {
  return `This process stands by: ${active} is active.`;
}

const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };

function answerTo(path: string, state: StandbyState): Response {
  if (path === '/healthz') return new Response('ok\n', { headers: plain });
  if (path === '/readyz')
    return state.failure === null
      ? new Response(`standby: ${state.active} is active\n`, { headers: plain })
      : new Response(`not ready: this standby can't reach the store: ${state.failure}\n`, {
          status: 503,
          headers: plain,
        });
  if (path === '/metrics') return new Response(metrics, { headers: plain });
  const message = standbyText(state);
  if (path.startsWith('/api/')) return Response.json({ message }, { status: 503 });
  return new Response(`${message}\n`, { status: 503, headers: plain });
}

const metrics =
  '# HELP warmwarden_active Whether this process guards; 0: it stands by.\n# TYPE warmwarden_active gauge\nwarmwarden_active 0\n';
