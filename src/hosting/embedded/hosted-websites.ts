import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseVhost } from './host-folder/vhost.ts';
import type { VhostStore } from './host-folder/vhost-store.ts';
import type { WordPressWebsite } from './wordpress/embedded-wordpress.ts';
import { factsOf } from './wordpress/serving.ts';

/** The websites with WordPress of this host, by their vhost files. */
export interface HostedWebsites {
  /** Null if the install has no website, or one of files. Throws if its vhost file cannot be used. */
  websiteOf(installId: string): WordPressWebsite | null;
  /** The same, also of an install that is set aside. */
  heldWebsiteOf(installId: string): WordPressWebsite | null;
  /** The same as `websiteOf`, but null for a file that cannot be used. The edge has logged it. */
  usableWebsite(installId: string): WordPressWebsite | null;
  /** Whether the install has a website, of any kind. */
  isKnown(installId: string): boolean;
  list(): Promise<WordPressWebsite[]>;
  /** The host names of an install. */
  namesOf(installId: string): Promise<string[]>;
}

const READ_AT_ONCE = 50;

export function createHostedWebsites(store: VhostStore, siteDomain: string): HostedWebsites {
  function parsed(id: string, text: string | null): WordPressWebsite | null {
    if (text === null) return null;
    const vhost = parseVhost(text, siteDomain);
    const facts = factsOf(vhost);
    return facts && { id, name: vhost.name, facts };
  }

  const websiteOf = (id: string) => parsed(id, store.readText(id));

  function usableWebsite(id: string): WordPressWebsite | null {
    try {
      return websiteOf(id);
    } catch {
      return null;
    }
  }

  async function list(): Promise<WordPressWebsite[]> {
    const found: WordPressWebsite[] = [];
    for (const [at, id] of (await store.list()).entries()) {
      const website = usableWebsite(id);
      if (website !== null) found.push(website);
      // Lets visitors be answered in between.
      if (at % READ_AT_ONCE === READ_AT_ONCE - 1) await nextTurn();
    }
    return found;
  }

  return {
    websiteOf,
    heldWebsiteOf: (id) => parsed(id, store.readHeldText(id)),
    usableWebsite,
    isKnown: (id) => store.readText(id) !== null,
    list,
    namesOf: async (id) => (await store.read(id))?.file.hostnames.map(({ name }) => name) ?? [],
  };
}
