import type { Logger } from 'pino';
import type { ConfigurationFiles } from './configuration-files.ts';
import { findRefused, type Refusals, testConfiguration } from './refusals.ts';
import type { RenderedMain } from './render-main.ts';
import type { RenderedVhost } from './render-vhost.ts';

/** Websites by install id. */
export type RenderedVhosts = ReadonlyMap<string, RenderedVhost>;

/** The configuration that was activated on disk. */
export interface Configured {
  generation: string;
  /** Whether it differs from the previous one. */
  fresh: boolean;
  vhosts: RenderedVhosts;
  refused: Refusals;
}

/** nginx's whole configuration. Only a configuration that nginx accepts becomes active. */
export interface Configuration {
  /** The main file for these websites. If two claim a name, nginx uses the first, which has the lower id. */
  mainFor(vhosts: RenderedVhosts): Promise<RenderedMain>;
  /**
   * Activates the websites on disk, except those of `changed` that nginx refuses: they stay as in `before`, or are left out. The
   * files of all must exist. Rejects without changes if nginx refuses anything else.
   */
  apply(vhosts: RenderedVhosts, changed: RenderedVhost[], before: RenderedVhosts): Promise<Configured>;
}

export interface ConfigurationOptions {
  files: ConfigurationFiles;
  /** Renders the main file that includes these files. */
  render(vhostFiles: string[]): Promise<RenderedMain>;
  log: Logger;
}

export function createConfiguration({ files, render, log }: ConfigurationOptions): Configuration {
  function mainFor(vhosts: RenderedVhosts): Promise<RenderedMain> {
    const sorted = [...vhosts.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return render(sorted.map(files.paths.vhostFile));
  }

  /** The reason why nginx refuses exactly these websites; null if it accepts them. */
  async function tryOut(vhosts: RenderedVhosts): Promise<string | null> {
    const candidate = await files.writeGeneration((await mainFor(vhosts)).text);
    try {
      return (await testConfiguration(candidate)).refusal;
    } finally {
      await files.discard(candidate);
    }
  }

  async function apply(
    vhosts: RenderedVhosts,
    changed: RenderedVhost[],
    before: RenderedVhosts,
  ): Promise<Configured> {
    const { generation, text } = await mainFor(vhosts);
    const done = { generation, vhosts, refused: new Map() };
    if (text === (await files.currentText())) return { ...done, fresh: false };
    const candidate = await files.writeGeneration(text);
    const { refusal, warnings } = await testConfiguration(candidate);
    if (refusal === null) {
      for (const warning of warnings) log.warn({ warning }, 'nginx finds its configuration odd');
      await files.switchTo(candidate);
      await files.prune([...vhosts.values()]);
      return { ...done, fresh: true };
    }
    await files.discard(candidate);
    const unchanged = putBack(vhosts, changed, before);
    const refused = await findRefused(changed, (some) =>
      tryOut(new Map([...unchanged, ...some.map((vhost) => [vhost.id, vhost] as const)])),
    );
    if (refused.size === 0) throw new Error(`nginx refuses its configuration: ${refusal}`);
    const offenders = changed.filter(({ id }) => refused.has(id));
    return { ...(await apply(putBack(vhosts, offenders, before), [], before)), refused };
  }

  return { mainFor, apply };
}

/** The websites, with the given ones replaced by their former state, or left out if they had none. */
function putBack(vhosts: RenderedVhosts, some: RenderedVhost[], before: RenderedVhosts): RenderedVhosts {
  const result = new Map(vhosts);
  for (const { id } of some) {
    const earlier = before.get(id);
    if (earlier === undefined) result.delete(id);
    else result.set(id, earlier);
  }
  return result;
}
