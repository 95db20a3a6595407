import manifest from '../../../package.json' with { type: 'json' };

/** Homeport's own version. */
export const { version } = manifest;
