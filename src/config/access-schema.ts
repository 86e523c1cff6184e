// The section server.auth: tokens, users of a proxy, and what a viewer sees of the fleet.
import { z } from 'zod';
import { label, network, pattern, tokenDigest } from '../world/schema/scalars.ts';
import {
  oneOf,
  optional,
  orNull,
  type Refuse,
  refuseEmpty,
  secret,
  section,
  wordOrWords,
} from '../world/schema/section.ts';

const limitKeys = {
  tags: optional(wordOrWords(pattern()), 'Role viewer: shows only mailboxes with these tags: globs.'),
  accounts: optional(wordOrWords(pattern()), 'Role viewer: shows only these accounts: globs.'),
};

function refuseLimits(keys: Readonly<Record<string, unknown>>, refuse: Refuse): void {
  const { role, tags, accounts } = keys;
  refuseEmpty(Object.fromEntries(Object.entries(keys).filter(([key]) => key in limitKeys)), refuse);
  if (role === 'viewer' || role === undefined) return;
  for (const [key, value] of Object.entries({ tags, accounts }))
    if (value !== undefined) refuse(key, 'is for the role viewer: no other role can be limited');
}

type LimitKeys = Readonly<Partial<Record<keyof typeof limitKeys, readonly string[] | undefined>>>;

function withLimits<Keys extends LimitKeys>({ tags, accounts, ...keys }: Keys) {
  return { ...keys, limits: tags || accounts ? { tag: tags, account: accounts } : null };
}

const token = section(
  {
    name: label().describe('The name of its owner.'),
    sha256: secret(
      tokenDigest('--role ROLE').describe('Its SHA-256 in hex, as `warmwarden token new NAME` prints it.'),
    ),
    role: oneOf(['viewer', 'operator', 'scraper']).describe('What the token can do.'),
    ...limitKeys,
  },
  refuseLimits,
).transform(withLimits);
export type TokenConfig = z.output<typeof token>;

const header = (text: string) => optional(z.string().regex(/^[A-Za-z0-9-]+$/, 'is not the name of a header'), text);

const proxyHeader = section({
  user: header('The header with the name of the user. Default: X-Forwarded-User.'),
  groups: header('The header with its groups, with commas between. Default: X-Forwarded-Groups.'),
  roles: z
    .array(
      section(
        {
          group: z.string().min(1, 'is empty').describe('The name of a group of the proxy.'),
          role: oneOf(['viewer', 'operator']).describe('What its users can do.'),
          ...limitKeys,
        },
        refuseLimits,
      ).transform(withLimits),
    )
    .min(1)
    .describe('The first entry with a group of the user counts.'),
  trusted: z.array(network()).min(1).describe('Addresses of the proxy. Warmwarden ignores the headers of all others.'),
}).transform(({ user = 'X-Forwarded-User', groups = 'X-Forwarded-Groups', ...keys }) => ({ ...keys, user, groups }));

export const auth = z.union(
  [
    z.literal('none'),
    section({
      tokens: optional(z.array(token).min(1), 'Who has access.'),
      proxyHeader: orNull(proxyHeader, 'Signs people in by headers of a proxy.'),
    }).transform(({ tokens = [], proxyHeader }) => ({ tokens, proxyHeader })),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? 'must be none, or tokens with a list' : undefined) },
);
