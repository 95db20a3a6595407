import { hash } from 'node:crypto';
import type { S3Service } from '../../../network/object-storage/s3-address.ts';
import type { InstallState } from '../../contract/host.ts';
import { certificateId } from '../../policy/certificate-id.ts';
import { markerPath, markerText } from '../../policy/marker.ts';
import type { Scheme } from '../../policy/redirects.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { renderLookup, renderMissing } from './file-lookup.ts';
import { type Behaviour, type ServedName, servedNames, serverName } from './names.ts';
import { quoted, quotedPattern } from './quote.ts';
import { HIDDEN_PATTERN, renderOffload, renderOffloadMap } from './render-offload.ts';
import { renderUsageFormat, renderUsageLog } from './usage-lines.ts';
import { CLOSED_PROGRAMS, STATIC_FILES, TO_WORDPRESS } from './website-paths.ts';
import { renderText, renderWellKnown } from './well-known.ts';

/** Options that all websites of a host share. */
export interface EdgeOptions {
  layout: LinuxLayout;
  /** Parameters of `listen` for each scheme, without those of the default server. */
  listen: Record<Scheme, string>;
  /** Folder of notices. */
  notices: string;
  /** PEM files of a certificate's chain and key, by {@link certificateId}. */
  certificateFiles(id: string): { chain: string; key: string };
  s3: S3Service;
  /** The log of requests that the host counts and deletes. */
  usageLog: string;
}

/** The configuration of one website. */
export interface RenderedVhost {
  id: string;
  /** SHA-256 of the configuration, hex. */
  revision: string;
  text: string;
}

/** Memory for keys, about 2,000 of them. */
const ZONE = '256k';
/** Pages that no one requests expire after this, so that no older page is served during an update. */
const FORGOTTEN_AFTER = '30m';
const MOST_ON_DISK = '256m';

/**
 * The configuration of a website at the time `now`. Names with the same behaviour and certificate share a server. Throws a
 * {@link PermanentHostError} for anything that nginx's configuration cannot express.
 */
export function renderVhost(state: InstallState, edge: EdgeOptions, now: Date): RenderedVhost {
  const parts = [
    renderCache(state.id, edge),
    renderUsageFormat(state.id),
    ...(state.offload === null ? [] : [renderOffloadMap(state.id, state.offload)]),
    ...servers(servedNames(state.hostnames, now)).map((server) => renderServer(server, state, edge)),
  ];
  const draft = `# ${state.name}\n${parts.join('\n')}\n`;
  const revision = hash('sha256', draft, 'hex');
  const marker = { installId: state.id, revision };
  const text = draft.replaceAll(MARKER_PLACE, renderText(markerPath(marker), markerText(marker)));
  return { id: state.id, revision, text };
}

/** Replaced by the marker once the revision is known, which is the hash of everything else. */
const MARKER_PLACE = '# marker';

function zoneOf(installId: string): string {
  return `page_${installId}`;
}

function renderCache(installId: string, { layout }: EdgeOptions): string {
  return `fastcgi_cache_path ${quoted(layout.cacheOf(installId))} levels=1:2 keys_zone=${zoneOf(installId)}:${ZONE} inactive=${FORGOTTEN_AFTER} max_size=${MOST_ON_DISK} use_temp_path=off;`;
}

interface Server {
  schemes: Scheme[];
  behaviour: Behaviour;
  names: string[];
  /** Certificate id; null: the web server's own. */
  certificate: string | null;
}

/** As few servers as possible, because each takes memory: names with the same behaviour on both schemes need one. */
function servers(names: ServedName[]): Server[] {
  const grouped = new Map<string, Server>();
  const add = (name: string, server: Omit<Server, 'names'>) => {
    const key = JSON.stringify(server);
    const group = grouped.get(key);
    if (group === undefined) grouped.set(key, { ...server, names: [name] });
    else group.names.push(name);
  };
  for (const { name, http, https, certificate } of names) {
    const id = certificate === null ? null : certificateId(certificate);
    if (http.kind === 'serve' && https.kind === 'serve') {
      add(name, { schemes: ['http', 'https'], behaviour: http, certificate: id });
    } else {
      add(name, { schemes: ['http'], behaviour: http, certificate: null });
      add(name, { schemes: ['https'], behaviour: https, certificate: id });
    }
  }
  return [...grouped.values()];
}

function renderServer(server: Server, state: InstallState, edge: EdgeOptions): string {
  const { schemes, behaviour, names, certificate } = server;
  const head = [
    ...schemes.map((scheme) => `listen ${edge.listen[scheme]};`),
    `server_name ${names.map(serverName).join(' ')};`,
    ...(certificate === null ? [] : renderCertificate(edge.certificateFiles(certificate))),
    renderUsageLog(state.id, edge.usageLog),
    `set $install ${state.id};`,
    MARKER_PLACE,
  ];
  const [scheme = 'http'] = schemes;
  const body =
    behaviour.kind === 'serve' ? renderWebsite(state, edge) : renderRedirect(behaviour, scheme, edge);
  return `server {\n${[...head, body].join('\n')}\n}`;
}

/** Without a certificate here, nginx uses that of the default server, which costs nothing. */
function renderCertificate({ chain, key }: { chain: string; key: string }): string[] {
  return [`ssl_certificate ${quoted(chain)};`, `ssl_certificate_key ${quoted(key)};`];
}

function renderRedirect(
  { scheme, name }: Extract<Behaviour, { kind: 'redirect' }>,
  arrival: Scheme,
  { layout, notices }: EdgeOptions,
): string {
  const port = scheme === arrival ? '$port_suffix' : '$https_port_suffix';
  return `${renderWellKnown({ proofs: layout.proofs, notices, unproved: '/' })}
location / {
    if ($unsendable) {
        return 400;
    }
    add_header Cache-Control no-cache always;
    return 301 ${scheme}://${name ?? '$host'}${port}$request_uri;
}`;
}

/** Everything that is answered with 404. */
const NEVER_SHOWN = `(?s)${HIDDEN_PATTERN}|${CLOSED_PROGRAMS}`;

/** Paths of a website that each worker remembers. */
const MOST_LOOKUPS = 100;

/** Skips the lookup of WordPress's own `index.php`, which answers nearly everything: it would cost as much as a cached page. */
function renderWebsite({ id, offload }: InstallState, { layout, notices, s3 }: EdgeOptions): string {
  const php = `fastcgi_cache ${zoneOf(id)};
    add_header X-Cache $cache_state always;
    fastcgi_pass ${quoted(`unix:${layout.phpSocketOf(id)}`)};`;
  const unproved = `${quoted(layout.htdocsOf(id)).replace(/"$/, '$uri"')} ${TO_WORDPRESS}`;
  return `root ${quoted(layout.htdocsOf(id))};
disable_symlinks if_not_owner from=${quoted(layout.homeOf(id))};
${offload === null ? '' : renderOffload(id, offload, s3)}
${renderWellKnown({ proofs: layout.proofs, notices, unproved })}
location ~ ${quotedPattern(NEVER_SHOWN)} {
    return 404;
}
location ~ ${quotedPattern('\\.php(?:/|$)')} {
    fastcgi_split_path_info "^(.+?\\.php)(/.*)$";
    set $path_info $fastcgi_path_info;
    try_files $fastcgi_script_name =404;
    ${php}
}
location = /index.php {
    ${php}
}
location = / {
    ${renderLookup(1)}
    ${renderMissing('-f $document_root/index.html')}
}
location ~* ${quotedPattern(STATIC_FILES)} {
    expires 7d;
    add_header X-Content-Type-Options nosniff;
    try_files $uri ${TO_WORDPRESS};
}
location / {
    ${renderLookup(MOST_LOOKUPS)}
    ${renderMissing('-e $request_filename')}
}
location @present {
    add_header Cache-Control no-cache;
    add_header X-Content-Type-Options nosniff;
    try_files $uri $uri/ ${TO_WORDPRESS};
}`;
}
