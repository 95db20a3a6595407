import { Link } from 'wouter';
import { type Connection, type Install, useConnection } from '../../../api/installs.ts';
import { useSshKeys } from '../../../api/me.ts';
import { commandLine } from '../../../components/command-line.ts';
import { Copyable } from '../../../components/copy.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Empty, Facts, MainSection, Section } from '../../../components/page.tsx';
import { useAccount, useMay } from '../../../session/session.ts';
import { OfferedSection, WhyNotOffered } from '../offered.tsx';
import { DatabaseAccess } from './database-access.tsx';

/** How to connect to an install by SFTP, SSH and HTTP. */
export function ConnectSection({ install }: { install: Install }) {
  const query = useConnection(install.id);
  return (
    <Loaded query={query} what="connection details">
      {(connection) =>
        connection === null ? (
          <MainSection>
            <Empty>The host has not reported its address yet. Try again in a minute.</Empty>
          </MainSection>
        ) : (
          <Ways connection={connection} install={install} />
        )
      }
    </Loaded>
  );
}

function Ways({ connection, install }: { connection: Connection; install: Install }) {
  const isPartial = useAccount(install.account.id)?.may['install.read'] === 'own';
  const mayWork = useMay(install.account.id)('install.work');
  return (
    <>
      <Section title="SFTP">
        <Copyable text={commandLine('sftp', connection)} what="the SFTP command" />
        <Facts
          facts={[
            ['Host', <code key="host">{connection.host}</code>],
            ['Port', <code key="port">{connection.port}</code>],
            ['User name', <code key="user">{connection.username}</code>],
            ['Password', 'none, use your SSH key'],
          ]}
        />
        <OwnKeys />
        {isPartial && (
          <Notice>
            Your key works only for installs that you have access to. If you lose access to this install, your
            key stops working here.
          </Notice>
        )}
      </Section>
      <Section title="SSH">
        {connection.shell ? (
          <Copyable text={commandLine('ssh', connection)} what="the SSH command" />
        ) : (
          <WhyNotOffered installId={install.id} need="shell" />
        )}
      </Section>
      <FirstConnection keys={connection.host_keys} />
      {mayWork && install.status === 'active' && (
        <OfferedSection installId={install.id} need="database_access" title="Database">
          <DatabaseAccess installId={install.id} />
        </OfferedSection>
      )}
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

/** Says with which of the user's keys they connect, or that they need one. */
function OwnKeys() {
  const { data: keys } = useSshKeys();
  const [first, ...others] = keys ?? [];
  const manage = <Link href="/me/ssh-keys">Manage SSH keys</Link>;
  if (keys === undefined) return <p>{manage}</p>;
  if (first === undefined) {
    return (
      <p>
        You have no SSH key yet. <Link href="/me/ssh-keys">Add an SSH key</Link> to connect immediately.
      </p>
    );
  }
  return (
    <p>
      {others.length === 0 ? (
        <>
          Connect with your SSH key <code>{first.comment || first.fingerprint_sha256}</code>.
        </>
      ) : (
        `Connect with one of your ${keys.length} SSH keys.`
      )}{' '}
      {manage}
    </p>
  );
}

/** Lets users verify the host's keys. */
function FirstConnection({ keys }: { keys: Connection['host_keys'] }) {
  return (
    <Section title="Host key">
      <p>
        When you first connect, your program shows the server's fingerprint and asks whether you trust it.{' '}
        {keys.length > 0 && ' Continue only if it matches:'}
      </p>
      {keys.length > 0 && (
        <>
          <Facts
            facts={keys.map(({ type, fingerprint }) => [type, <code key={fingerprint}>{fingerprint}</code>])}
          />
          <p>
            To skip the question and reject any other server, add this line to <code>~/.ssh/known_hosts</code>
            :
          </p>
          {keys.map(({ type, known_hosts }) => (
            <Copyable key={known_hosts} text={known_hosts} what={`the ${type} line for known_hosts`} />
          ))}
        </>
      )}
      <p>
        If your program later warns that the server's key has changed, disconnect and contact your provider.
      </p>
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
