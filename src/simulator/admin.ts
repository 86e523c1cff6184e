// The simulator's own routes: faults and incidents put in while it runs. They need no key.

import type { Faults } from './faults.ts';
import { readJsonObject } from './inputs.ts';
import { Refusal } from './refusal.ts';
import type { Answer } from './routes.ts';
import type { Incident } from './scenario.ts';
import { fromError, readFaultRule, readIncident } from './scenario-file.ts';

export interface Administered {
  readonly faults: Faults;
  /** Throws when the incident is about no mailbox of the fleet. */
  readonly befall: (incident: Incident) => void;
}

/**
 * GET /admin/faults lists the rules with how often each was met, POST adds one, DELETE takes all away.
 * POST /admin/incidents lets something go wrong with the fleet. Throws a Refusal (400, 404).
 */
export function administer({ faults, befall }: Administered, method: string, path: string, body: string): Answer {
  const put = (work: (value: unknown) => void): Answer => {
    try {
      work(readJsonObject(body));
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal(400, fromError(error));
    }
    return { status: 201, body: { success: true } };
  };
  switch (`${method} ${path}`) {
    case 'GET /admin/faults':
      return { status: 200, body: { faults: faults.rules() } };
    case 'POST /admin/faults':
      return put((value) => faults.add(readFaultRule(value)));
    case 'DELETE /admin/faults':
      faults.clear();
      return { status: 200, body: { success: true } };
    case 'POST /admin/incidents':
      return put((value) => befall(readIncident(value)));
    default:
      throw new Refusal(404, 'there is GET, POST and DELETE /admin/faults, and POST /admin/incidents');
  }
}
