import type { Command } from 'commander';
import { configOf } from './configuration.ts';
import type { PlatformWork } from './on-platform.ts';

/** Does a command's work on the platform that the configuration names, beside a server or without one. */
export async function withPlatform(command: Command, work: PlatformWork): Promise<void> {
  const config = configOf(command);
  const { onPlatform } = await import('./on-platform.ts');
  await onPlatform(config, work);
}
