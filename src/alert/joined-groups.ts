// Which groups that are announced at the same time are one message, because they have one cause. Pure.
import type { Transition } from '../model/alert.ts';
import { groupOf } from './grouping.ts';

interface Announced {
  readonly group: string;
  readonly transitions: readonly Transition[];
}

/** The refused change that shows that a key may not write is announced with the key. */
export function joinedGroups(groups: readonly Announced[]): readonly Announced[] {
  const all = new Set(groups.map(({ group }) => group));
  const joined = new Map<string, readonly Transition[]>();
  for (const { group, transitions } of groups) {
    const [first] = transitions;
    const cause =
      first?.alert.rule === 'guard_action_failed' ? groupOf({ ...first.alert, rule: 'key_read_only' }) : group;
    const of = all.has(cause) ? cause : group;
    joined.set(of, [...(joined.get(of) ?? []), ...transitions]);
  }
  return [...joined].map(([group, transitions]) => ({ group, transitions }));
}
