import type { Engine } from './engine.ts';

/** As the compose files name it. */
export const IMAGE = 'homeport';
const MIB = 1024 * 1024;

export async function buildImage(engine: Engine, clone: string, base: string): Promise<void> {
  // Podman's own format has no health checks. Docker has no other format, and no such option.
  const format = engine.name.startsWith('Podman') ? ['--format', 'docker'] : [];
  const words = ['build', ...format, '--network', 'host', '--build-arg', `BASE=${base}`, '--tag', IMAGE, '.'];
  await engine.run(words, { folder: clone });
}

/** The size of the image and of its larger layers, a line each. */
export async function sizesOf(engine: Engine): Promise<string[]> {
  const bytes = await engine.run(['image', 'inspect', '--format', '{{.Size}}', IMAGE]);
  const layers = await engine.run(['history', '--format', '{{.Size}}  {{.CreatedBy}}', IMAGE]);
  return [
    `image: ${Math.round(Number(bytes) / MIB)} MiB`,
    ...layers
      .split('\n')
      .filter((line) => /^[\d.]+ ?[MG]B/.test(line))
      .map((line) => `layer: ${line.slice(0, 120)}`),
  ];
}
