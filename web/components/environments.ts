import { sortRows } from './sort-rows.ts';

/** The environments of a site, most important first. */
export const ENVIRONMENTS = ['production', 'staging', 'development'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

const WORDS: Record<Environment, string> = {
  production: 'Production',
  staging: 'Staging',
  development: 'Development',
};

export function environmentLabel(environment: Environment | null): string {
  return environment === null ? 'No environment' : WORDS[environment];
}

/** Sorts by environment: production first, items without an environment last. */
export function byEnvironment<Item extends { environment: Environment | null }>(
  items: readonly Item[],
): Item[] {
  return sortRows(items, (item) => environmentRank(item.environment), 'ascending');
}

/** Returns the sort rank of an environment. */
export function environmentRank(environment: Environment | null): number {
  return environment === null ? ENVIRONMENTS.length : ENVIRONMENTS.indexOf(environment);
}

/** Parses the environment in a form value; null for any other text. */
export function environmentOf(value: string): Environment | null {
  return ENVIRONMENTS.find((environment) => environment === value) ?? null;
}

/** Returns the environments of a site without an install. */
export function freeEnvironments(installs: readonly { environment: Environment | null }[]): Environment[] {
  return ENVIRONMENTS.filter((slot) => installs.every(({ environment }) => environment !== slot));
}
