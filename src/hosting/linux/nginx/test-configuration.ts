import { CommandError, runCommand } from '../../../lib/run-command.ts';

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
