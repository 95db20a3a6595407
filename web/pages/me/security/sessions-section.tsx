import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { portal } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import { SESSIONS_KEY, type SessionEntry, useSessions } from '../../../api/me.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Tag } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { describeUserAgent } from './user-agent.ts';

/** A session to end, or all others. */
type Ending = SessionEntry | 'others';

/** The user's sessions, which they can end. */
export function SessionsSection() {
  const sessions = useSessions();
  const queries = useQueryClient();
  const [ending, setEnding] = useState<Ending | null>(null);

  async function end() {
    if (ending === null) return;
    await unwrapEmpty(
      ending === 'others'
        ? portal.DELETE('/portal/api/sessions')
        : portal.DELETE('/portal/api/sessions/{session_id}', { params: { path: { session_id: ending.id } } }),
    );
    await queries.invalidateQueries({ queryKey: SESSIONS_KEY });
    showSuccess(ending === 'others' ? 'Ended all other sessions.' : 'Ended the session.');
  }

  return (
    <Section
      title="Sessions"
      actions={
        sessions.data?.some(({ current }) => !current) ? (
          <Button onClick={() => setEnding('others')}>End all other sessions</Button>
        ) : undefined
      }
    >
      <Loaded query={sessions} what="your sessions">
        {(entries) => (
          <Table
            caption="Your sessions"
            columns={columns(setEnding)}
            rows={entries}
            rowKey={(session) => session.id}
          />
        )}
      </Loaded>
      <ConfirmDialog
        open={ending !== null}
        onOpenChange={(open) => !open && setEnding(null)}
        title={ending === 'others' ? 'End all other sessions?' : 'End this session?'}
        description={
          ending === 'others'
            ? 'You must sign in again in your other browsers.'
            : `You must sign in again in ${whereOf(ending)}.`
        }
        confirmLabel={ending === 'others' ? 'End all other sessions' : 'End session'}
        onConfirm={end}
      />
    </Section>
  );
}

const whereOf = (session: SessionEntry | null): string =>
  session === null ? '' : `${describeUserAgent(session.user_agent)} at ${session.address}`;

/** Returns when a session was last used. The server stores the minute, which may begin before the sign-in. */
function lastSeen({ created_at, last_seen_at }: SessionEntry): string {
  const isBeforeSignIn = last_seen_at < created_at;
  return isBeforeSignIn ? created_at : last_seen_at;
}

const columns = (onEnd: (session: SessionEntry) => void): Column<SessionEntry>[] => [
  {
    id: 'browser',
    header: 'Browser',
    rowHeader: true,
    cell: ({ user_agent, current }) => (
      <>
        {describeUserAgent(user_agent)} {current && <Tag>This browser</Tag>}
      </>
    ),
  },
  { id: 'address', header: 'Address', cell: ({ address }) => <code>{address}</code> },
  { id: 'since', header: 'Signed in', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'seen',
    header: 'Last seen',
    cell: (session) => (session.current ? 'Now' : <Time at={lastSeen(session)} />),
  },
  {
    id: 'end',
    header: 'Actions',
    cell: (session) =>
      session.current ? null : (
        <Button small aria-label={`End the session of ${whereOf(session)}`} onClick={() => onEnd(session)}>
          End
        </Button>
      ),
  },
];
