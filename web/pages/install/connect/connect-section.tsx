import { Link } from 'wouter';
import { type Connection, type Install, useConnection } from '../../../api/installs.ts';
import { commandLine } from '../../../components/command-line.ts';
import { Copyable } from '../../../components/copy.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Empty, Facts, Section } from '../../../components/page.tsx';
import { useAccount } from '../../../session/session.ts';

/** How to reach the files and the website of an install. */
export function ConnectSection({ install }: { install: Install }) {
  const query = useConnection(install.id);
  return (
    <Loaded query={query} what="how to connect">
      {(connection) =>
        connection === null ? (
          <Section title="Connect">
            <Empty>
              The host of this install has not told yet how it is reached. Look again in a minute.
            </Empty>
          </Section>
        ) : (
          <Ways connection={connection} install={install} />
        )
      }
    </Loaded>
  );
}

function Ways({ connection, install }: { connection: Connection; install: Install }) {
  const isPartial = useAccount(install.account.id)?.may['install.read'] === 'own';
  return (
    <>
      <Section title="Files by SFTP">
        <Copyable text={commandLine('sftp', connection)} what="the SFTP command" />
        <Facts
          facts={[
            ['Host', <code key="host">{connection.host}</code>],
            ['Port', <code key="port">{connection.port}</code>],
            ['User name', <code key="user">{connection.username}</code>],
            ['Password', 'none: your SSH key lets you in'],
          ]}
        />
        <p>
          You need an SSH key of your own. <Link href="/me/ssh-keys">Add an SSH key</Link> and it works here
          at once.
        </p>
        {isPartial && (
          <Notice>
            Your key lets you into the installs that were given to you, and into no others. If this one is
            taken from you, your key stops working here.
          </Notice>
        )}
      </Section>
      <Section title="Shell by SSH">
        {connection.shell ? (
          <Copyable text={commandLine('ssh', connection)} what="the SSH command" />
        ) : (
          <p>This host offers files alone, and no shell.</p>
        )}
      </Section>
      <FirstConnection keys={connection.host_keys} />
      <Section title="Website">
        <Facts
          facts={[
            ['HTTPS', <Website key="https" href={connection.https_url} />],
            ['HTTP', <Website key="http" href={connection.http_url} />],
          ]}
        />
      </Section>
    </>
  );
}

/** How to tell this host from another that poses as it. */
function FirstConnection({ keys }: { keys: Connection['host_keys'] }) {
  return (
    <Section title="The first connection">
      <p>
        At the first connection your program shows a fingerprint of the server and asks whether you trust it.
        {keys.length > 0 && ' Go on only if it is the same as here:'}
      </p>
      {keys.length > 0 && (
        <>
          <Facts
            facts={keys.map(({ type, fingerprint }) => [type, <code key={fingerprint}>{fingerprint}</code>])}
          />
          <p>
            With this line in the file <code>~/.ssh/known_hosts</code> it does not ask, and connects to no
            other:
          </p>
          {keys.map(({ type, known_hosts }) => (
            <Copyable key={known_hosts} text={known_hosts} what={`the ${type} line for known_hosts`} />
          ))}
        </>
      )}
      <p>If it warns later that the server's key has changed, do not go on: ask your provider first.</p>
    </Section>
  );
}

function Website({ href }: { href: string }) {
  return (
    <a href={href} target="_blank" rel="noopener">
      {href}
      <span className="visually-hidden"> in a new tab</span>
    </a>
  );
}
