import type { Logger } from 'pino';
import type { ConfigurationFiles } from './configuration-files.ts';
import { findRefused, type Refusals, testConfiguration } from './refusals.ts';
import type { RenderedMain } from './render-main.ts';
import type { RenderedVhost } from './render-vhost.ts';

/** Websites by the id of their install. */
export type RenderedVhosts = ReadonlyMap<string, RenderedVhost>;

/** What was brought in force on disk. */
export interface Configured {
  generation: string;
  /** It was not in force before. */
  fresh: boolean;
  vhosts: RenderedVhosts;
  refused: Refusals;
}

/** nginx's configuration as a whole: nothing comes in force that nginx has not taken. */
export interface Configuration {
  /** The main file for these websites; of two that claim a name nginx takes the first, which is the one of the lower id. */
  mainFor(vhosts: RenderedVhosts): Promise<RenderedMain>;
  /**
   * Brings the websites in force on disk, without those of `changed` that nginx refuses: these stay as in `before`, or away.
   * The files of all must be written. Rejects, and changes nothing, if nginx refuses what is not of those.
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

  /** Why nginx refuses just these websites; null if it does not. */
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

/** The websites, of which the given ones are as they were before, or missing if they were not there. */
function putBack(vhosts: RenderedVhosts, some: RenderedVhost[], before: RenderedVhosts): RenderedVhosts {
  const result = new Map(vhosts);
  for (const { id } of some) {
    const earlier = before.get(id);
    if (earlier === undefined) result.delete(id);
    else result.set(id, earlier);
  }
  return result;
}
