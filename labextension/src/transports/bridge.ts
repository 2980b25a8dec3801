/**
 * How a cell's output finds JupyterLab's own connection: a pipe on `globalThis` that gives a transport and the host. It
 * carries no token; whoever finds it could ask the page's server anyway.
 */
import type { Host } from '../host';
import type { Transport } from '../transport';

export interface Bridge {
  readonly version: 1;
  /** A transport of one's own; whoever takes it disposes of it. */
  connect(): Transport;
  /** JupyterLab as a cell's output has it. */
  readonly host: Host;
}

const KEY = Symbol.for('cashcode.bridge');
const place = globalThis as unknown as Record<symbol, unknown>;

/** Gives the function that takes it back, unless another one was published meanwhile. */
export function publishBridge(bridge: Bridge): () => void {
  place[KEY] = bridge;
  return () => {
    if (place[KEY] === bridge) {
      delete place[KEY];
    }
  };
}

/** The bridge of this page; undefined without one, and for one of another version. */
export function findBridge(): Bridge | undefined {
  const found = place[KEY];
  if (typeof found !== 'object' || found === null) {
    return undefined;
  }
  const { version, connect, host } = found as Partial<Record<keyof Bridge, unknown>>;
  return version === 1 && typeof connect === 'function' && typeof host === 'object' && host !== null
    ? (found as Bridge)
    : undefined;
}
