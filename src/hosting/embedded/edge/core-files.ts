import type { Vhost } from '../host-folder/vhost.ts';
import type { Exchange } from './exchange.ts';
import type { FileTree } from './file-finder.ts';
import type { SitePath } from './request-target.ts';
import type { NoFile, StaticFiles } from './static-files.ts';

/** Answers requests with files of the WordPress that a website has. */
export interface CoreFiles {
  serve(exchange: Exchange, vhost: Vhost, path: SitePath): Promise<NoFile | null>;
}

/**
 * The files of WordPress cores, by version. Websites of one version share the entries in the caches and the compressed variants. Purges leave
 * them, because these files never change.
 */
export function createCoreFiles(files: Pick<StaticFiles, 'serve'>): CoreFiles {
  const trees = new Map<string, FileTree>();

  function treeOf(version: string): FileTree {
    const known = trees.get(version);
    if (known !== undefined) return known;
    const prefix = `${version}/`;
    const tree: FileTree = {
      id: version,
      revision: version,
      cachePrefix: { object: prefix, page: prefix, cdn: prefix },
      purgedPages: new Map(),
      wordpress: null,
    };
    trees.set(version, tree);
    return tree;
  }

  return {
    serve: (exchange, { wordpress }, path) => files.serve(exchange, treeOf(wordpress?.version ?? ''), path),
  };
}
