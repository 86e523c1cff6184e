// Parts of the doctor's report, and the lines with its findings.

export const doctorParts = [
  'versions',
  'configuration',
  'permissions',
  'api',
  'budget',
  'clock',
  'store',
  'channels',
  'daemon',
] as const;
export type DoctorPart = (typeof doctorParts)[number];

/** `skipped`: could not be examined; the message says why. */
export const doctorResults = ['ok', 'warning', 'problem', 'skipped'] as const;
type DoctorResult = (typeof doctorResults)[number];

export interface Examined {
  readonly part: DoctorPart;
  readonly result: DoctorResult;
  /** Sentences: the finding and, unless it is fine, the remedy. Contains no secrets once the report is complete. */
  readonly message: string;
}

export function reporter(part: DoctorPart): (result: DoctorResult, message: string) => Examined {
  return (result, message) => ({ part, result, message });
}
