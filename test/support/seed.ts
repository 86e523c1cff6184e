// Properties try the same cases in each `npm test`, so that a change alone turns it red. `npm run proofs` looks for new ones.
import fc from 'fast-check';

if (!process.env['WARMWARDEN_SLOW']) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 29 });
