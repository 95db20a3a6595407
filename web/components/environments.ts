import { sortRows } from './sort-rows.ts';

/** The slots of a site, in the order in which people think of them. */
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

/** Production first; whatever fills no slot last. */
export function byEnvironment<Item extends { environment: Environment | null }>(
  items: readonly Item[],
): Item[] {
  return sortRows(items, (item) => environmentRank(item.environment), 'ascending');
}

/** A number that orders environments. */
export function environmentRank(environment: Environment | null): number {
  return environment === null ? ENVIRONMENTS.length : ENVIRONMENTS.indexOf(environment);
}

/** The environment that a form's value names; null: none. */
export function environmentOf(value: string): Environment | null {
  return ENVIRONMENTS.find((environment) => environment === value) ?? null;
}

/** The slots of a site that an install may still fill. */
export function freeEnvironments(installs: readonly { environment: Environment | null }[]): Environment[] {
  return ENVIRONMENTS.filter((slot) => installs.every(({ environment }) => environment !== slot));
}
