// What every metric of ours begins with.
export const prefix = 'warmwarden_';
