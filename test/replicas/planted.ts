// Mistakes that an implementation of the protocol could make. The model must find every one of them.

export const plantedFaults = [
  'writes without the fence',
  'counts from the answer of a beat',
  'has no gate',
  'forgets how long a POST takes',
  'does not wait for inherited intents',
  'takes a lost reply for a failure',
  'takes a lost reply for success',
  'counts failed reads',
  'lets a dead one beat',
  'marks dead whatever the beat is',
  'ignores a jump of the clock',
  "goes by the database's clock",
  "takes a late change for a person's",
  'leaves a late change as it is',
  'sends before it commits',
  'runs commands again',
] as const;

export type Planted = (typeof plantedFaults)[number] | null;
