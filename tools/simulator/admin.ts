// The simulator's own routes: faults, incidents and troubles put in while it runs. They need no key.

import type { Faults } from './faults.ts';
import { readJsonObject } from './inputs.ts';
import { Refusal } from './refusal.ts';
import type { Answer } from './routes.ts';
import type { Incident } from './scenario.ts';
import { fromError, readFaultRule, readIncident } from './scenario-file.ts';
import { readTroubleRequest, type Trouble, type TroubleRequest } from './trouble-route.ts';

export interface Administered {
  readonly faults: Faults;
  /** Throws when the incident is about no mailbox of the fleet. */
  readonly befall: (incident: Incident) => void;
  /** Lets a trouble happen now. Throws a Refusal. */
  readonly strike: (request: TroubleRequest) => Trouble;
  /** Takes a message that somebody sends to the simulator as to a chat's webhook. */
  readonly onMessage: (body: string) => void;
}

const done = { success: true };

/**
 * GET /admin/faults lists the rules with how often each was met, POST adds one, DELETE takes all away.
 * POST /admin/incidents lets something go wrong with the fleet; POST /admin/troubles lets it go wrong at once, and as much
 * as makes a guard act. POST /admin/inbox takes a message and says ok. Throws a Refusal (400, 404, 409).
 */
export function administer(parts: Administered, method: string, path: string, body: string): Answer {
  const { faults, befall, strike, onMessage } = parts;
  const put = (work: (value: unknown) => object): Answer => {
    try {
      return { status: 201, body: work(readJsonObject(body)) };
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal(400, fromError(error));
    }
  };
  switch (`${method} ${path}`) {
    case 'GET /admin/faults':
      return { status: 200, body: { faults: faults.rules() } };
    case 'POST /admin/faults':
      return put((value) => {
        faults.add(readFaultRule(value));
        return done;
      });
    case 'DELETE /admin/faults':
      faults.clear();
      return { status: 200, body: done };
    case 'POST /admin/incidents':
      return put((value) => {
        befall(readIncident(value));
        return done;
      });
    case 'POST /admin/troubles':
      return put((value) => strike(readTroubleRequest(value)));
    case 'POST /admin/inbox':
      onMessage(body);
      return { status: 200, body: 'ok' };
    default:
      throw new Refusal(
        404,
        'there is /admin/faults (GET, POST, DELETE), and POST /admin/incidents, troubles and inbox',
      );
  }
}
