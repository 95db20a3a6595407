/** The runtime of a website. `static`: files only. */
export const RUNTIMES = ['wordpress', 'static'] as const;
export type Runtime = (typeof RUNTIMES)[number];
