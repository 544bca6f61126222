/*
 * How the engine gets the listening sockets of a command: those of the proxy and of services. Only a process inside a network namespace can create a
 * socket there, and Node accepts sockets only from its own children, through the channel that it has given them.
 */
#include "helper.h"

#include "confine.h"
#include <linux/fcntl.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/prctl.h>
#include <linux/socket.h>
#include <linux/un.h>
#include <asm/signal.h>
#include <asm/socket.h>

/* From bits/socket.h, which the kernel's headers lack; all of it is part of the kernel's stable interface. */
enum { UNIX = 1, INTERNET = 2, INTERNET_6 = 10, STREAM = 1, CLOSE_ON_EXEC = O_CLOEXEC, RIGHTS = 1, CUT_OFF = 8 /* MSG_CTRUNC */ };
struct message {
  void *name;
  int name_size;
  struct part {
    const void *bytes;
    size_t size;
  } *parts;
  size_t part_count;
  void *control;
  size_t control_size;
  unsigned flags;
};
/* A struct cmsghdr with one descriptor. */
struct passed {
  size_t size;
  int level, type, descriptor, padding;
};
enum { SIZE_OF_PASSED = offsetof(struct passed, padding) };

/* More ports than a policy may have, so that a wrong count can't fill the stack. */
enum { MOST_PORTS = 256 };

/* The requested length of the queue for connections. The kernel reduces it to its own limit. */
enum { QUEUE = 511 };

/* What Node itself sends for `process.send(message, server)`: a child's channel then emits the event `message` with that server. */
static const char message_of_node[] = "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":{\"listening\":true}}\n";

/* The messages that the engine looks for in a command's error output (see `network/inside.ts`). */
static const char directory_missing[] = "portcullis: the command's working directory is not in the container\n";
static const char listener_failed[] = "portcullis: the port of the proxy or of a service could not be opened\n";

/* Where the relay waits, relative to the working directory: a full path could be too long for a socket's address. */
static const struct sockaddr_un relay_address = {.sun_family = UNIX, .sun_path = "proxy"};
enum { SIZE_OF_RELAY_ADDRESS = offsetof(struct sockaddr_un, sun_path) + sizeof "proxy" };

/* Passes a listening socket on. */
static long pass_on(int channel, int descriptor) {
  struct part text = {message_of_node, sizeof message_of_node - 1};
  struct passed passed = {SIZE_OF_PASSED, SOL_SOCKET, RIGHTS, descriptor, 0};
  struct message message = {.parts = &text, .part_count = 1, .control = &passed, .control_size = sizeof passed};
  return error_in(CALL(sendmsg, channel, &message, 0));
}

/* Whether a descriptor is a socket that listens for connections of the internet protocol. Whoever reaches the relay could send it anything. */
static bool is_listening(int descriptor) {
  int domain = 0, listens = 0;
  uint32_t size_of_domain = sizeof domain, size_of_listens = sizeof listens;
  return CALL(getsockopt, descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size_of_domain) >= 0 && (domain == INTERNET || domain == INTERNET_6) &&
         CALL(getsockopt, descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size_of_listens) >= 0 && listens != 0;
}

/* Receives a socket that `pass_on` has sent. Returns its descriptor; a negated error number if anything else came. */
static long receive(int connection) {
  char received[sizeof message_of_node];
  struct part text = {received, sizeof received};
  struct passed passed = {0};
  struct message message = {.parts = &text, .part_count = 1, .control = &passed, .control_size = sizeof passed};
  long count = CALL(recvmsg, connection, &message, 0);
  if (count < 0) return count;
  bool is_one = message.control_size >= SIZE_OF_PASSED && passed.size == SIZE_OF_PASSED && passed.level == SOL_SOCKET && passed.type == RIGHTS;
  return is_one && (message.flags & CUT_OFF) == 0 && is_listening(passed.descriptor) ? passed.descriptor : -EPROTO;
}

/*
 * Opens a port for both versions of the internet protocol, or for version 4 if the kernel has no other. All addresses of the network namespace are
 * served, which has no interface but loopback. Returns the listening socket.
 */
static long open_port(long port, int flags) {
  uint16_t in_network_order = (uint16_t)(port << 8 | port >> 8);
  struct sockaddr_in6 both = {.sin6_family = INTERNET_6, .sin6_port = in_network_order};
  struct sockaddr_in only_4 = {.sin_family = INTERNET, .sin_port = in_network_order};
  int yes = 1, no = 0;
  long server = CALL(socket, INTERNET_6, STREAM | flags, 0), error = 0;
  bool has_6 = server != -EAFNOSUPPORT;
  if (!has_6) server = CALL(socket, INTERNET, STREAM | flags, 0);
  if (server < 0) return server;
  if (has_6) error = error_in(CALL(setsockopt, server, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no));
  /* In a container, closed connections of the previous command may still occupy the port for a while (TIME_WAIT). */
  if (error == 0) error = error_in(CALL(setsockopt, server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
  if (error == 0) error = error_in(has_6 ? CALL(bind, server, &both, sizeof both) : CALL(bind, server, &only_4, sizeof only_4));
  if (error == 0) error = error_in(CALL(listen, server, QUEUE));
  return error < 0 ? error : server;
}

/* Ends with 0, or with the error number of the call that failed. */
_Noreturn void listener(char **words, char **environment) {
  (void)environment;
  long channel = take_argument(words[0], INT32_MAX);
  if (channel < 0 || words[1] == NULL) leave(EINVAL);
  for (char **word = words + 1; *word != NULL; word++) {
    long port = take_argument(*word, 65535);
    if (port < 0) leave(EINVAL);
    long server = open_port(port, 0);
    long error = server < 0 ? server : pass_on((int)channel, (int)server);
    if (error < 0) leave(-error);
  }
  leave(0);
}

/*
 * Receives sockets from the first process that connects, passes them on, and answers with one byte. Writes one byte to its standard output when it
 * is ready. Does not outlive its parent. Ends with 0, or with the error number of the call that failed.
 */
_Noreturn void relay(char **words, char **environment) {
  (void)environment;
  long channel = take_argument(words[0], INT32_MAX), count = words[0] == NULL ? -1 : take_argument(words[1], MOST_PORTS);
  if (channel < 0 || count < 0) leave(EINVAL);
  CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  long server = CALL(socket, UNIX, STREAM, 0);
  if (server < 0) leave(-server);
  long error = error_in(CALL(bind, server, &relay_address, SIZE_OF_RELAY_ADDRESS));
  if (error == 0) error = error_in(CALL(listen, server, 1));
  /* If the parent ended before the first call above, this write fails, which ends the relay. */
  if (error == 0) error = write_all(1, "\n", 1);
  if (error < 0) leave(-error);
  long connection = CALL(accept4, server, 0, 0, 0);
  if (connection < 0) leave(-connection);
  for (; count > 0; count--) {
    long received = receive((int)connection);
    error = received < 0 ? received : pass_on((int)channel, (int)received);
    if (error < 0) leave(-error);
    CALL(close, received);
  }
  leave(-write_all((int)connection, "\n", 1));
}

static _Noreturn void give_up(const char *line) {
  write_all(2, line, length_of(line));
  leave(CANNOT_RUN);
}

/* If this is zero or more, the call succeeded. */
static long need_listener(long result) {
  if (result < 0) give_up(listener_failed);
  return result;
}

/*
 * Passes the ports' sockets to the relay in the directory where this process starts. After that, it fails only if the command can't be started. All
 * sockets are closed when the command starts, because the command must not inherit them.
 */
_Noreturn void enter(char **words, char **environment) {
  for (int index = 0; index < 3; index++) if (words[index] == NULL) leave(CANNOT_RUN);
  int servers[MOST_PORTS];
  long count = need_listener(take_argument(words[2], MOST_PORTS));
  char **ports = words + 3;
  int channel = (int)need_listener(CALL(socket, UNIX, STREAM | CLOSE_ON_EXEC, 0));
  need_listener(CALL(connect, channel, &relay_address, SIZE_OF_RELAY_ADDRESS));
  for (long index = 0; index < count; index++) {
    /* An argument that is missing ends the loop here, because it isn't a number. */
    long port = need_listener(take_argument(ports[index], 65535));
    servers[index] = (int)need_listener(open_port(port, CLOSE_ON_EXEC));
  }
  if (CALL(chdir, words[1]) < 0) give_up(directory_missing);
  need_listener(apply_filter_from(words[0]));
  for (long index = 0; index < count; index++) need_listener(pass_on(channel, servers[index]));
  /* The relay answers when it has passed the sockets on. Waiting for that makes sure that the engine has them before the command starts. */
  char done;
  if (CALL(read, channel, &done, 1) != 1) give_up(listener_failed);
  become(ports + count, environment);
}
