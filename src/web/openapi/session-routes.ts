// Signing in and out, as it is described.
import { z } from 'zod';
import { formTokenField } from '../page/layout.ts';
import { signInParameters } from '../sign-in-routes.ts';
import { type Described, inQuery } from './described.ts';

const page = { 'text/html': z.string() };
const type = 'application/x-www-form-urlencoded' as const;
const cookie = 'The session of this browser.';
const location = 'Where the browser goes next.';

export const sessionRoutes: readonly Described[] = [
  {
    route: 'GET /sign-in',
    id: 'showSignIn',
    tag: 'sessions',
    summary: 'The form to sign in',
    access: 'anybody',
    parameters: inQuery(signInParameters, { to: 'The path to show afterwards.' }),
    answers: {
      200: { description: 'The form.', content: page },
      303: { description: 'Without tokens there is nothing to sign in to.', headers: { Location: location } },
    },
    refusals: ['bad_request'],
  },
  {
    route: 'POST /sign-in',
    id: 'signIn',
    tag: 'sessions',
    summary: 'Start a session',
    access: 'anybody',
    body: {
      type,
      required: true,
      shape: z.object({
        token: z.string().describe('A token with the role viewer or operator.'),
        to: z.string().optional().describe('The path to show afterwards.'),
      }),
    },
    answers: {
      303: { description: 'Signed in.', headers: { Location: location, 'Set-Cookie': cookie } },
      401: { description: 'The token is wrong: the form again.', content: page },
      403: {
        description: 'The form again, for a token with the role scraper; `cross_site`: another site sent the form.',
        content: { ...page, 'application/json': z.object({ error: z.enum(['cross_site']), message: z.string() }) },
      },
      429: {
        description: 'Too many wrong tokens came from this address: the form again.',
        headers: { 'Retry-After': 'Seconds to wait.' },
        content: page,
      },
    },
    refusals: ['bad_request', 'not_a_form', 'too_large'],
  },
  {
    route: 'POST /sign-out',
    id: 'signOut',
    tag: 'sessions',
    summary: 'End the session',
    access: 'form',
    body: { type, required: true, shape: z.object({ [formTokenField]: z.string().describe('From the page.') }) },
    answers: { 303: { description: 'Signed out.', headers: { Location: location } } },
    refusals: ['bad_request'],
  },
];
