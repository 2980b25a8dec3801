/**
 * The variables of a notebook, asked of its kernel without leaving a trace there: one silent request whose
 * expression makes no names, is not counted, and touches only types that answer at once. Never asked of a busy kernel.
 */
import type { Kernel, KernelMessage } from '@jupyterlab/services';

export interface Variable {
  name: string;
  /** The name of its type. */
  type: string;
  /** Its shape or length in words of mathematics, e.g. "8,412×14"; empty when it has none. */
  size: string;
}

const MOST = 50;
const PATIENCE_MS = 2_000;

/**
 * Base64 of JSON, newest first. Only the listed containers are measured: the `shape` or `len()` of an unknown
 * object may run code of its own, even fetch something.
 */
const LIST = `(lambda ns, b64, dumps, kinds: b64(dumps([
  [n, type(v).__name__[:60],
   list(v.shape) if type(v).__module__.split('.')[0] in ('numpy', 'pandas', 'polars', 'torch') and
     type(v).__name__ in ('ndarray', 'DataFrame', 'Series', 'Tensor')
   else [len(v)] if type(v) in (list, tuple, dict, set, frozenset, str, bytes) else []]
  for n, v in reversed(list(ns.items()))
  if n[:1] != '_' and n not in ('In', 'Out', 'exit', 'quit', 'open', 'get_ipython')
     and not isinstance(v, kinds)
][:${MOST}]).encode()).decode())(
  globals(), __import__('base64').b64encode, __import__('json').dumps,
  (type, type(__import__('json')), type(lambda: 0), type(len), type([].append)))`
  .split('\n')
  .map(line => line.trim())
  .join(' ');

/** Empty for a kernel that is busy, gone, not Python, or does not answer in two seconds. */
export async function variables(kernel: Kernel.IKernelConnection | null | undefined): Promise<Variable[]> {
  const answer = await ask(kernel, LIST);
  const encoded = /^'([A-Za-z0-9+/=]*)'$/.exec(answer ?? '');
  if (!encoded) {
    return [];
  }
  const bytes = Uint8Array.from(atob(encoded[1]), char => char.charCodeAt(0));
  const rows: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return Array.isArray(rows)
    ? rows.filter(isRow).map(([name, type, shape]) => ({ name, type, size: size(shape) }))
    : [];
}

/** What the kernel shows for a variable as plain text; undefined when it cannot be asked. */
export async function valueText(
  kernel: Kernel.IKernelConnection | null | undefined,
  name: string
): Promise<string | undefined> {
  if (!/^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name)) {
    return undefined;
  }
  return ask(kernel, `(lambda v: v[:100001] if type(v) in (str, bytes) else v)(${name})`);
}

async function ask(
  kernel: Kernel.IKernelConnection | null | undefined,
  expression: string
): Promise<string | undefined> {
  if (!kernel || kernel.isDisposed || kernel.status !== 'idle' || kernel.connectionStatus !== 'connected') {
    return undefined;
  }
  const future = kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    user_expressions: { cashcode: expression },
    allow_stdin: false,
    stop_on_error: false
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  try {
    const reply = await Promise.race([future.done, late]);
    return reply && plain(reply.content);
  } catch {
    // The kernel died or was restarted meanwhile: there is nothing to offer, and the notebook says why.
    return undefined;
  } finally {
    clearTimeout(timer);
    future.dispose();
  }
}

function plain(content: KernelMessage.IExecuteReplyMsg['content']): string | undefined {
  if (content.status !== 'ok') {
    return undefined;
  }
  const answer = content.user_expressions.cashcode as
    { status?: string; data?: Record<string, unknown> } | undefined;
  const text = answer?.status === 'ok' ? answer.data?.['text/plain'] : undefined;
  return typeof text === 'string' ? text : undefined;
}

type Row = [name: string, type: string, shape: number[]];

const isRow = (row: unknown): row is Row =>
  Array.isArray(row) && typeof row[0] === 'string' && typeof row[1] === 'string' && Array.isArray(row[2]);

const size = (shape: number[]): string => shape.map(count => count.toLocaleString('en')).join('×');
