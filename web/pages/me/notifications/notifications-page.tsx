import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import {
  INBOX_KEY,
  markAllNotifications,
  markNotification,
  NOTIFICATIONS_A_PAGE,
  type Notification,
  useNotifications,
  useUnreadCount,
} from '../../../api/notifications.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge, type Tone } from '../../../components/notice.tsx';
import { offerUndo } from '../../../components/offer-undo.ts';
import { Empty, Page, Section } from '../../../components/page.tsx';
import { useQueryParameters } from '../../../components/query-parameters.ts';
import { usePage } from '../../../components/table.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { TryAgain } from '../../install/operations/try-again.tsx';
import { byDay } from './days.ts';
import { NotificationTabs } from './notification-tabs.tsx';
import styles from './notifications.module.css';

/** The inbox of the signed-in user. */
export function NotificationsPage() {
  const isUnread = useQueryParameters().get('show') === 'unread';
  const [page, setPage] = usePage();
  const inbox = useNotifications(isUnread, page * NOTIFICATIONS_A_PAGE);
  const { data: unread = 0 } = useUnreadCount();
  const queries = useQueryClient();
  const now = useNow(60_000);

  const reload = () => queries.invalidateQueries({ queryKey: INBOX_KEY.slice(0, 1) });

  // One after the other, so that the last click counts, however long the answers take.
  const { mutateAsync: inOrder } = useMutation({
    scope: { id: 'inbox' },
    mutationFn: (work: () => Promise<unknown>) => work(),
  });

  /** Returns whether it worked. */
  async function change(work: () => Promise<unknown>): Promise<boolean> {
    let isDone = true;
    try {
      await inOrder(work);
    } catch (error) {
      isDone = false;
      showFailure(error);
    }
    await reload();
    return isDone;
  }

  async function mark(id: string, read: boolean) {
    const done = await change(() => markNotification(id, read));
    // It leaves the list of unread ones, and with it the button that marks it as unread.
    if (!done || !isUnread || !read) return;
    offerUndo('Marked as read.', async () => {
      await markNotification(id, false);
      await reload();
      return 'Marked as unread.';
    });
  }

  return (
    <Page
      title="Notifications"
      subtitle="What happened to your websites and accounts. Kept for 90 days."
      actions={
        unread > 0 ? (
          <Button
            onClick={() =>
              void change(async () => {
                await markAllNotifications();
                showSuccess('Marked all as read.');
              })
            }
          >
            Mark all as read
          </Button>
        ) : undefined
      }
    >
      <NotificationTabs current={isUnread ? 'unread' : 'all'} />
      <Loaded query={inbox} what="notifications">
        {({ count, results }) =>
          results.length === 0 ? (
            <Empty>
              <p>
                {isUnread
                  ? 'You have read everything.'
                  : 'No notifications yet. Failed work, problems of domains and certificates, and reached limits will appear here.'}
              </p>
            </Empty>
          ) : (
            <>
              {byDay(results, now).map(({ label, of }) => (
                <Section key={label} title={label}>
                  <ul className={styles.list}>
                    {of.map((one) => (
                      <Entry key={one.id} notification={one} onMark={(read) => void mark(one.id, read)} />
                    ))}
                  </ul>
                </Section>
              ))}
              {count > NOTIFICATIONS_A_PAGE && (
                <nav className={styles.pages} aria-label="Pages of notifications">
                  <Button small disabled={page === 0} onClick={() => setPage(page - 1)}>
                    Newer
                  </Button>
                  <Button
                    small
                    disabled={(page + 1) * NOTIFICATIONS_A_PAGE >= count}
                    onClick={() => setPage(page + 1)}
                  >
                    Older
                  </Button>
                </nav>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const TONES: Record<Notification['severity'], [tone: Tone, word: string]> = {
  error: ['bad', 'Problem'],
  warning: ['busy', 'Warning'],
  success: ['good', 'Finished'],
};

function Entry({ notification, onMark }: { notification: Notification; onMark(read: boolean): void }) {
  const { title, message, path, severity, account_name, count, last_at, read, retry_operation_id } =
    notification;
  const [tone, word] = TONES[severity];
  return (
    <li className={styles.entry} data-read={read || undefined}>
      <Badge tone={tone}>{word}</Badge>
      <div className={styles.words}>
        {/* Also if it is read, because its mark as unread may be on the way. */}
        <Link href={path} className={styles.title} onClick={() => onMark(true)}>
          {title}
        </Link>
        {message !== null && <span>{message}</span>}
        <span className={styles.soft}>
          {account_name} · {count > 1 && `${count} times, last `}
          <Time at={last_at} />
        </span>
      </div>
      <div className={styles.actions}>
        {retry_operation_id !== null && (
          <TryAgain operationId={retry_operation_id} what={title} onStarted={() => onMark(true)} />
        )}
        <Button
          small
          variant="quiet"
          aria-label={`Mark as ${read ? 'unread' : 'read'}: ${title}`}
          onClick={() => onMark(!read)}
        >
          {read ? 'Mark as unread' : 'Mark as read'}
        </Button>
      </div>
    </li>
  );
}
