/** Error codes that mean that a disk or a file takes no more data, for example because the disk is full. */
const codes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']

/** Whether an error means that a disk or a file takes no more data. */
export function isDiskFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && codes.includes(error.code)
}

/** The part of a call's result that ends the run if an error means that nothing more can be recorded. */
export function faultIn(error: unknown): { readonly fault?: Error } {
  return isDiskFault(error) ? { fault: error } : {}
}
