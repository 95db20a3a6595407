import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { removeDurably, removeTemporary, replaceAtomically, syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { OtherEdge } from '../../contract/edge-routes.ts';
import { ensureFolder } from '../isolation/owned-folder.ts';
import type { TablePaths } from './edge-options.ts';
import { createNameLinks, type NameLinks } from './name-links.ts';

const StoredRouteSchema = Type.Object({
  id: Type.String(),
  hostId: Type.String(),
  digest: Type.String(),
  /** For SSH. */
  user: Type.Optional(Type.String()),
  /** By name, with the id of its certificate; null: the edge's own. */
  names: Type.Record(Type.String(), Type.Object({ certificate: Type.Union([Type.String(), Type.Null()]) })),
});

const EdgeSchema = Type.Object({ hostId: Type.String(), host: Type.String(), port: Type.Integer() });

/** Where an install of another host is served, by name. */
export type StoredRoute = Type.Static<typeof StoredRouteSchema>;

const schema = Compile(StoredRouteSchema);

/** The edges of other hosts and the routes to them on disk. nginx's workers read them by name. */
export interface RouteTable {
  /** Creates the folders, and removes what an interrupted write left there. `gid`: the group of nginx's workers. */
  prepare(gid: number): Promise<void>;
  /** The readable routes. */
  routes(): Promise<StoredRoute[]>;
  writeRoutes(routes: readonly StoredRoute[]): Promise<void>;
  removeRoutes(installIds: readonly string[]): Promise<void>;
  edges(): Promise<OtherEdge[]>;
  /** Replaces the edges of other hosts. */
  writeEdges(edges: readonly OtherEdge[]): Promise<void>;
  names: NameLinks;
}

export function createRouteTable(paths: TablePaths): RouteTable {
  let mode: { mode: number; gid?: number } = { mode: 0o640 };
  const routeFile = (id: string) => join(paths.routes, `${id}.json`);

  async function write(file: string, value: unknown): Promise<void> {
    const text = JSON.stringify(value);
    if ((await ifThere(readFile(file, 'utf8'))) !== text) await replaceAtomically(file, text, mode);
  }

  return {
    names: createNameLinks(paths.routedNames, paths.routes),

    async prepare(gid) {
      mode = { mode: 0o640, gid };
      for (const folder of [paths.folder, paths.edges, paths.routes, paths.routedNames]) {
        await ensureFolder(folder, { uid: 0, gid, mode: 0o710 });
        await removeTemporary(folder);
      }
    },

    async routes() {
      const routes: StoredRoute[] = [];
      for (const name of await readdir(paths.routes)) {
        const text = name.endsWith('.json')
          ? await ifThere(readFile(join(paths.routes, name), 'utf8'))
          : null;
        const route = text === null ? null : parsed(text);
        if (route !== null && name === `${route.id}.json`) routes.push(route);
      }
      return routes;
    },

    async writeRoutes(routes) {
      for (const route of routes) await write(routeFile(route.id), route);
      if (routes.length > 0) await syncFolder(paths.routes);
    },

    async removeRoutes(ids) {
      for (const id of ids) await removeDurably(routeFile(id));
    },

    async edges() {
      const texts = (await readdir(paths.edges)).map((name) => readFile(join(paths.edges, name), 'utf8'));
      return (await Promise.all(texts)).map((text) => Value.Parse(EdgeSchema, JSON.parse(text)));
    },

    async writeEdges(edges) {
      const wanted = new Map(edges.map((edge) => [`${edge.hostId}.json`, edge]));
      for (const [name, edge] of wanted) await write(join(paths.edges, name), edge);
      for (const name of await readdir(paths.edges)) {
        if (!wanted.has(name)) await removeDurably(join(paths.edges, name));
      }
      await syncFolder(paths.edges);
    },
  };
}

/** Null for a file that cannot be read: the control plane sends the route again. */
function parsed(text: string): StoredRoute | null {
  try {
    const value: unknown = JSON.parse(text);
    return schema.Check(value) ? value : null;
  } catch {
    return null;
  }
}
