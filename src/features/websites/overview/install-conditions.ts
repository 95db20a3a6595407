/** Filter value for installs without a site or environment. */
export const NONE = 'none';
/** Filter value for installs that need attention, in place of a status. */
export const ATTENTION = 'attention';

/** Conditions that a list of installs must meet. */
export interface InstallConditions {
  /** Parts of the name or of a domain: one of them must match. None: all installs match. */
  texts: readonly string[];
  /** A status, or {@link ATTENTION}. */
  status?: string | undefined;
  /** An environment, or {@link NONE}. */
  environment?: string | undefined;
  /** The ID of a site, or {@link NONE}. */
  site?: string | undefined;
  /** Keys of tags, separated by commas: the install's site has all of them. */
  tags?: string | undefined;
  /** The installs that match, if they were found before in a large account (search-parts-store.ts). */
  found?: readonly string[] | undefined;
  /** Certificates that end by then need attention. */
  soon: string;
}

/** Sort orders of the list. `updates`: the most waiting updates come first. */
export const LIST_SORTS = [
  'name',
  'domain',
  'status',
  'environment',
  'site',
  'php',
  'updates',
  'created',
] as const;
export type ListSort = (typeof LIST_SORTS)[number];
