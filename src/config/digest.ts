// A short text that differs where two configurations guard or notify differently: what is about one process stays out.
import { createHash } from 'node:crypto';
import type { Config } from './config.ts';

export function configDigest({ accounts, poll, alerts, api, metrics, recipes, retention }: Config): string {
  const { directory: _place, ...keys } = recipes;
  const shared = [accounts, poll, alerts, api, metrics, keys, retention];
  return createHash('sha256').update(JSON.stringify(shared)).digest('base64url');
}
