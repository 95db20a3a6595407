import { CommandError, runCommand } from '../machine/run-command.ts';
import type { RenderedVhost } from './render-vhost.ts';

export const NGINX = '/usr/sbin/nginx';

const TEST_WITHIN_MS = 60_000;

/** nginx's verdict on a configuration. */
export interface Verdict {
  /** nginx's reason for refusing it; null if it is accepted. */
  refusal: string | null;
  /** nginx's warnings. */
  warnings: string[];
}

/** Makes nginx test a configuration without using it. */
export async function testConfiguration(file: string): Promise<Verdict> {
  try {
    const { stderr } = await runCommand(NGINX, ['-t', '-q', '-c', file], { timeoutMs: TEST_WITHIN_MS });
    return { refusal: null, warnings: lines(stderr, 'warn') };
  } catch (error) {
    if (!(error instanceof CommandError) || error.status === null) throw error;
    const grave = lines(error.stderr, 'emerg|alert|crit');
    return { refusal: grave.join('; ') || error.message, warnings: lines(error.stderr, 'warn') };
  }
}

function lines(stderr: string, levels: string): string[] {
  const level = new RegExp(`^nginx: \\[(?:${levels})\\] (.*)$`);
  return stderr.split('\n').flatMap((text) => level.exec(text)?.[1] ?? []);
}

/** Reasons for refused websites, by install id. */
export type Refusals = Map<string, string>;

/**
 * Finds which of the `suspects` make nginx refuse a configuration. `test` returns nginx's refusal of the configuration with only
 * the given suspects, or null. Most refusals name the file; otherwise this tests halves.
 */
export async function findRefused(
  suspects: RenderedVhost[],
  test: (some: RenderedVhost[]) => Promise<string | null>,
): Promise<Refusals> {
  const refused: Refusals = new Map();
  let left = suspects;
  for (;;) {
    const refusal = await test(left);
    if (refusal === null) return refused;
    const named = left.filter(({ id, revision }) => refusal.includes(`${id}-${revision}`));
    if (named.length === 0) {
      for (const [id, why] of await bisect(left, refusal, test)) refused.set(id, why);
      return refused;
    }
    for (const { id } of named) refused.set(id, refusal);
    left = left.filter(({ id }) => !refused.has(id));
    if (left.length === 0) return refused;
  }
}

/** `refusal` is nginx's reason for refusing all suspects together. */
async function bisect(
  suspects: RenderedVhost[],
  refusal: string,
  test: (some: RenderedVhost[]) => Promise<string | null>,
): Promise<Refusals> {
  const [only, ...others] = suspects;
  if (only === undefined) return new Map();
  if (others.length === 0) return new Map([[only.id, refusal]]);
  const middle = Math.ceil(suspects.length / 2);
  const refused: Refusals = new Map();
  for (const half of [suspects.slice(0, middle), suspects.slice(middle)]) {
    const why = await test(half);
    if (why === null) continue;
    for (const [id, reason] of await bisect(half, why, test)) refused.set(id, reason);
  }
  return refused;
}
